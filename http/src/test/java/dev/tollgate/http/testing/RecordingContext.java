package dev.tollgate.http.testing;

import com.amazonaws.services.lambda.runtime.ClientContext;
import com.amazonaws.services.lambda.runtime.CognitoIdentity;
import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The context of an invocation with a fixed remaining time, which records the log. */
public final class RecordingContext implements Context {
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final Duration remaining;

  /** A context with this remaining time. */
  public RecordingContext(Duration remaining) {
    this.remaining = remaining;
  }

  /** The lines of the log. */
  public List<String> logged() {
    return List.copyOf(logged);
  }

  @Override
  public int getRemainingTimeInMillis() {
    return Math.toIntExact(remaining.toMillis());
  }

  @Override
  public LambdaLogger getLogger() {
    return new LambdaLogger() {
      @Override
      public void log(String message) {
        logged.add(message);
      }

      @Override
      public void log(byte[] message) {
        logged.add(new String(message, StandardCharsets.UTF_8));
      }
    };
  }

  @Override
  public String getAwsRequestId() {
    return "8f507cfc-xmpl-4697-b07a-ac58fc914c95";
  }

  @Override
  public String getLogGroupName() {
    return "/aws/lambda/function";
  }

  @Override
  public String getLogStreamName() {
    return "2026/03/12/[1]8f507cfcxmpl4697b07aac58fc914c95";
  }

  @Override
  public String getFunctionName() {
    return "function";
  }

  @Override
  public String getFunctionVersion() {
    return "1";
  }

  @Override
  public String getInvokedFunctionArn() {
    return "arn:aws:lambda:us-east-1:123456789012:function:function:live";
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
  public int getMemoryLimitInMB() {
    return 512;
  }
}
