"""What schemathesis checks of Fenceline beside its own checks, and what it writes down for api.ts."""

import json
import os
import re
import time

import requests
import schemathesis
from schemathesis.generation import GenerationMode

STEPS = open(os.environ["FUZZ_STEPS"], "a", encoding="utf-8")
SNAKE = re.compile(r"^[a-z][a-z0-9_]*$")
PROBLEM_BYTES_MAX = 8_000
TIMESTAMP_AHEAD_MAX_MS = 60_000
LOG_NAME_BYTES_MAX = 512


def id_of(case):
    return (case.operation.definition.raw or {}).get("operationId")


def phase_of(case):
    return case.meta.phase.name.value if case.meta else None


@schemathesis.hook
def before_call(context, case, kwargs):
    # Most configurations are refused, and a chain without a log is short.
    if id_of(case) == "createLog" and phase_of(case) == "stateful":
        case.body = {}
        case.media_type = "application/json"


@schemathesis.hook
def after_call(context, case, response):
    step = {"operation": id_of(case), "phase": phase_of(case), "status": response.status_code}
    STEPS.write(json.dumps(step) + "\n")
    STEPS.flush()
    # What is taken out of service is put back, or nothing would be left for the requests that follow.
    usual = {"setRegionState": "accepting", "setBookieState": "writable"}.get(id_of(case))
    if usual is not None and response.status_code == 200:
        requests.patch(response.request.url, json={"state": usual}, timeout=30)


@schemathesis.check
def snake_case_names(ctx, response, case):
    """Names of members are one kind everywhere."""
    document = parsed(response)
    assert_names(document, "")


def assert_names(value, at):
    if isinstance(value, dict):
        for name, member in value.items():
            if at == "" and name in ("openapi", "paths", "components"):
                return
            assert SNAKE.match(name), f"{at}/{name} is not in snake_case"
            assert_names(member, f"{at}/{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            assert_names(member, f"{at}/{index}")


@schemathesis.check
def problems_are_right(ctx, response, case):
    """A problem document says what it must, briefly; no answer is a defect of the server."""
    if response.status_code < 400:
        return
    document = parsed(response)
    if document is None or (response.status_code == 503 and "survivable_region_losses" in document):
        return
    assert len(response.content) <= PROBLEM_BYTES_MAX, f"{len(response.content)} bytes"
    assert document["code"] not in ("internal", "data_corrupt"), document
    assert document["status"] == response.status_code, document
    assert document["side_effects"] in ("none", "possible"), document
    if response.status_code < 500:
        assert document["side_effects"] == "none" or document["code"] in ("fenced",), document
    if document["retryable"]:
        assert int(response.headers["retry-after"][0]) >= 1, dict(response.headers)


@schemathesis.check
def refusals_are_foreseen(ctx, response, case):
    """400 for what fits the schemas only where the document says so in words, which no schema can say."""
    if response.status_code != 400 or case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    assert says_so_in_words(case, parsed(response)), f"refused, though it fits: {response.text}"


def says_so_in_words(case, problem):
    operation = id_of(case)
    pointers = [fault["pointer"] for fault in problem.get("errors", [])]
    query, headers = case.query or {}, case.headers or {}
    body = case.body if isinstance(case.body, dict) else {}
    is_json = (case.media_type or "").startswith("application/json")
    names = [(case.path_parameters or {}).get("log"), query.get("start_after")]
    if any(len(str(name).encode()) > LOG_NAME_BYTES_MAX for name in names if name is not None):
        return pointers in (["/path/log"], ["/query/start_after"])
    if operation == "readRecords":
        return pointers == ["/query"] and len({"seq_num", "dlsn", "timestamp", "tail_offset"} & set(query)) > 1
    if operation == "createLog":
        if "change" in problem or pointers == ["/body/replication"]:
            return "replication" in body or "preset" in body
        return False
    if operation != "appendRecords":
        return False
    if pointers == ["/query/match_seq_num"]:
        return is_json and "match_seq_num" in query
    if pointers == ["/body/producer"]:
        return "producer" in body and "idempotency-key" in headers
    if pointers == ["/body/producer/seq"]:
        return body["producer"]["seq"] + len(body["records"]) > 2**53 - 1
    records = body.get("records", [])
    if all(pointer.endswith("/timestamp") for pointer in pointers):
        latest_ms = time.time() * 1_000 + TIMESTAMP_AHEAD_MAX_MS - 10_000
        return any(record.get("timestamp", 0) > latest_ms for record in records)
    if headers.get("log-format") == "base64":
        return "base 64" in problem["detail"]
    if "bytes of headers" in problem["detail"]:
        return True
    return False


def parsed(response):
    try:
        return json.loads(response.content)
    except ValueError:
        return None
