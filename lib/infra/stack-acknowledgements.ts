/** Findings of cdk-nag that hold for a whole stack, each with its reason. */
import { type Stack, Validations } from "aws-cdk-lib";

export function acknowledgeShared(stack: Stack): void {
  Validations.of(stack).acknowledge({
    id: "AwsSolutions-DDB3",
    reason:
      "A lease that came back from the past would be stale. The table holds no record; when it is lost, " +
      "logs are recovered and go on.",
  });
}
