/** One page of a bucket's keys, in the order of their names: a hint, as the port has it. */
import { ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { BEHIND_LEDGERS, ledgerPrefix, parseObjectKey } from "../../formats/object-keys.ts";
import { assert } from "../../protocol/assert.ts";
import type { StoreListRequest, StorePage } from "../../protocol/ports.ts";

/** What S3 gives at most. */
const KEYS_MAX = 1_000;

export async function listKeys(
  client: S3Client,
  bucket: string,
  request: StoreListRequest,
): Promise<StorePage> {
  const { ledgerId, after, limit } = request;
  assert(Number.isSafeInteger(limit) && limit >= 1, `a page has at least one key, got limit ${limit}`);
  const answer = await client.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      // One more shows whether there is another page.
      MaxKeys: Math.min(limit + 1, KEYS_MAX),
      ...(ledgerId === undefined ? {} : { Prefix: ledgerPrefix(ledgerId) }),
      ...(after === undefined ? {} : { StartAfter: after }),
    }),
  );
  const all = (answer.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
  const names = all.filter((name) => name < BEHIND_LEDGERS);
  const page = names.slice(0, limit);
  // A name that this build does not know is not its to judge, or to sweep.
  const keys = page.map(parseObjectKey).filter((key) => key !== undefined);
  const last = page.at(-1);
  const isCut = answer.IsTruncated === true && names.length === all.length;
  const hasMore = names.length > page.length || isCut;
  return hasMore && last !== undefined ? { keys, next: last } : { keys };
}
