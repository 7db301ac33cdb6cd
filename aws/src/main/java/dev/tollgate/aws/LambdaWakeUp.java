package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.WakeUp;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.InvocationType;
import software.amazon.awssdk.services.lambda.model.InvokeResponse;

/**
 * Has the token producer wake buckets. So whoever claims needs no right to write ledgers, to send
 * tokens, or to change schedules. The producer is the same for all tenants, so it is invoked under
 * the function's own role.
 */
final class LambdaWakeUp implements WakeUp {
  private final LambdaClient lambda;
  private final String producerArn;

  /**
   * Wakes by invoking {@code producerArn}.
   *
   * @param lambda waits for as long as a fill may take
   */
  LambdaWakeUp(LambdaClient lambda, String producerArn) {
    this.lambda = lambda;
    this.producerArn = producerArn;
  }

  @Override
  public void wake(BucketId id) {
    String payload =
        """
        {"tenantId":"%s","action":"%s"}"""
            .formatted(id.tenant(), id.action());
    String what = "Lambda Invoke to wake " + id;
    InvokeResponse answer =
        ask(
            what,
            () ->
                lambda.invoke(
                    request ->
                        request
                            .functionName(producerArn)
                            .invocationType(InvocationType.REQUEST_RESPONSE)
                            .payload(SdkBytes.fromUtf8String(payload))));
    if (answer.functionError() != null) {
      throw new Unavailable(what + ": " + answer.payload().asUtf8String());
    }
  }
}
