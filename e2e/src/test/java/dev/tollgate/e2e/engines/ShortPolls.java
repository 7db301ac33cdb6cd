package dev.tollgate.e2e.engines;

import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/**
 * Turns the long polls of this JVM's SQS clients into short polls. The local cloud finds every
 * message at once, so a long poll of an empty queue would only wait for a second of real time.
 *
 * <p>The SDK finds this class through the resource {@code execution.interceptors} of the SQS
 * package.
 */
public final class ShortPolls implements ExecutionInterceptor {
  @Override
  public SdkRequest modifyRequest(
      Context.ModifyRequest context, ExecutionAttributes executionAttributes) {
    return context.request() instanceof ReceiveMessageRequest receive
            && receive.waitTimeSeconds() != null
        ? receive.toBuilder().waitTimeSeconds(0).build()
        : context.request();
  }
}
