package dev.tollgate.aws.lambda;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.FillRequests;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.InvocationType;
import software.amazon.awssdk.services.lambda.model.InvokeResponse;

/**
 * Requests fills by invoking the token producer. So a claimant needs no right to write ledgers, to
 * send tokens, or to change schedules. The producer is the same for all tenants, so it is invoked
 * under the function's own role.
 */
public final class LambdaFillRequests implements FillRequests {
  private final LambdaClient lambda;
  private final String producerArn;

  /**
   * Requests to the function {@code producerArn}.
   *
   * @param lambda waits for as long as a fill may take
   */
  public LambdaFillRequests(LambdaClient lambda, String producerArn) {
    this.lambda = lambda;
    this.producerArn = producerArn;
  }

  @Override
  public void send(BucketId id) {
    invoke(id, InvocationType.EVENT);
  }

  @Override
  public void sendAndWait(BucketId id) {
    InvokeResponse answer = invoke(id, InvocationType.REQUEST_RESPONSE);
    if (answer.functionError() != null) {
      throw new Unavailable(what(id) + ": " + answer.payload().asUtf8String());
    }
  }

  private InvokeResponse invoke(BucketId id, InvocationType type) {
    String payload =
        """
        {"tenantId":"%s","action":"%s"}"""
            .formatted(id.tenant(), id.action());
    return ask(
        what(id),
        () ->
            lambda.invoke(
                request ->
                    request
                        .functionName(producerArn)
                        .invocationType(type)
                        .payload(SdkBytes.fromUtf8String(payload))));
  }

  private static String what(BucketId id) {
    return "Lambda Invoke to fill " + id;
  }
}
