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
 * Requests fills by invoking the token producer. Callers therefore need no permission to write
 * ledgers, send tokens or change schedules. All tenants share the producer, so it is invoked with
 * the function's own role.
 */
public final class LambdaFillRequests implements FillRequests {
  private final LambdaClient lambda;
  private final String producerArn;

  /**
   * Requests to the function {@code producerArn}.
   *
   * @param lambda must wait as long as a fill may take
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
    InvokeResponse response = invoke(id, InvocationType.REQUEST_RESPONSE);
    if (response.functionError() != null) {
      throw new Unavailable(what(id) + ": " + response.payload().asUtf8String());
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
