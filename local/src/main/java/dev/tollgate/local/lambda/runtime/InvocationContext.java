package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.ClientContext;
import com.amazonaws.services.lambda.runtime.CognitoIdentity;
import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The context of an invocation, for the handler. */
public record InvocationContext(
    FunctionSpec function,
    String arn,
    String requestId,
    Optional<String> traceHeader,
    long deadlineNanos,
    Consumer<String> log)
    implements Context {

  @Override
  public String getAwsRequestId() {
    return requestId;
  }

  @Override
  public String getLogGroupName() {
    return "/aws/lambda/" + function.name();
  }

  @Override
  public String getLogStreamName() {
    return "local";
  }

  @Override
  public @Nullable String getXrayTraceId() {
    return traceHeader.orElse(null);
  }

  @Override
  public String getFunctionName() {
    return function.name();
  }

  @Override
  public String getFunctionVersion() {
    return "$LATEST";
  }

  @Override
  public String getInvokedFunctionArn() {
    return arn;
  }

  @Override
  public @Nullable CognitoIdentity getIdentity() {
    return null;
  }

  @Override
  public @Nullable ClientContext getClientContext() {
    return null;
  }

  @Override
  public int getRemainingTimeInMillis() {
    return (int) Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
  }

  @Override
  public int getMemoryLimitInMB() {
    return function.memoryMb();
  }

  @Override
  public LambdaLogger getLogger() {
    return new LambdaLogger() {
      @Override
      public void log(String message) {
        log.accept(message);
      }

      @Override
      public void log(byte[] message) {
        log.accept(new String(message, StandardCharsets.UTF_8));
      }
    };
  }
}
