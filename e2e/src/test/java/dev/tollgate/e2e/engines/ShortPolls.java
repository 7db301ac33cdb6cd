package dev.tollgate.e2e.engines;

import java.util.Objects;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/**
 * Turns the one-second polls of this JVM's SQS clients into short polls. The product waits for a
 * second so that SQS asks all of its servers. The local cloud finds every message at once, so that
 * wait would only cost real time. Longer polls, with which a test waits for a message, stay.
 *
 * <p>The SDK finds this class through the resource {@code execution.interceptors} of the SQS
 * package.
 */
public final class ShortPolls implements ExecutionInterceptor {
  private static final int PRODUCT_SECONDS = 1;

  @Override
  public SdkRequest modifyRequest(
      Context.ModifyRequest context, ExecutionAttributes executionAttributes) {
    return context.request() instanceof ReceiveMessageRequest receive
            && Objects.equals(receive.waitTimeSeconds(), PRODUCT_SECONDS)
        ? receive.toBuilder().waitTimeSeconds(0).build()
        : context.request();
  }
}
