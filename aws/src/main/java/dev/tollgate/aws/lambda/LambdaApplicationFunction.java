package dev.tollgate.aws.lambda;

import dev.tollgate.core.connect.ApplicationFunction;
import java.time.Duration;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.InvocationType;
import software.amazon.awssdk.services.lambda.model.InvokeResponse;

/**
 * An application's function, invoked with the own role of the function that forwards to it.
 *
 * @param lambda must not repeat requests, because API Gateway invokes a function once, and must
 *     read as long as an application may take
 */
public record LambdaApplicationFunction(LambdaClient lambda, String functionArn)
    implements ApplicationFunction {
  @Override
  public Reply invoke(String event, Duration limit) {
    try {
      InvokeResponse response =
          lambda.invoke(
              request ->
                  request
                      .functionName(functionArn)
                      .invocationType(InvocationType.REQUEST_RESPONSE)
                      .payload(SdkBytes.fromUtf8String(event))
                      .overrideConfiguration(
                          call -> call.apiCallTimeout(limit).apiCallAttemptTimeout(limit)));
      String payload = response.payload().asUtf8String();
      return response.functionError() == null ? new Answered(payload) : new Failed(payload);
    } catch (RuntimeException failure) {
      // Not only an SdkException: an answer that is not UTF-8 cannot be decoded.
      return new Failed("Lambda Invoke of " + functionArn + ": " + failure.getMessage());
    }
  }
}
