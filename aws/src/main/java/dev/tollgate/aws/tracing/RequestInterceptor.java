package dev.tollgate.aws.tracing;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.interceptor.SdkExecutionAttribute;
import software.amazon.awssdk.http.SdkHttpResponse;

/** Records each AWS request, with its retries, in the open segments of its function. */
final class RequestInterceptor implements ExecutionInterceptor {
  /**
   * The SDK refuses a second attribute of the same name. The name is random, because a host may
   * load this class for each of several functions that share the SDK's classes.
   */
  private static final ExecutionAttribute<RequestSubsegment> SUBSEGMENT =
      new ExecutionAttribute<>("tollgate-subsegment-" + UUID.randomUUID());

  private final XRayTracing tracing;

  RequestInterceptor(XRayTracing tracing) {
    this.tracing = tracing;
  }

  @Override
  public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
    List<OpenSegment> segments = tracing.recording();
    if (segments.isEmpty()) {
      return;
    }
    RequestSubsegment request =
        new RequestSubsegment(
            attributes.getAttribute(SdkExecutionAttribute.SERVICE_NAME),
            attributes.getAttribute(SdkExecutionAttribute.OPERATION_NAME),
            tracing.newId(),
            tracing.now());
    segments.forEach(segment -> segment.add(request));
    attributes.putAttribute(SUBSEGMENT, request);
  }

  @Override
  public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
    end(attributes, Optional.of(context.httpResponse()), false);
  }

  @Override
  public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes attributes) {
    boolean throttled =
        context.exception() instanceof AwsServiceException refused
            && refused.isThrottlingException();
    end(attributes, context.httpResponse(), throttled);
  }

  private void end(
      ExecutionAttributes attributes, Optional<SdkHttpResponse> response, boolean throttled) {
    RequestSubsegment request = attributes.getAttribute(SUBSEGMENT);
    if (request != null) {
      OptionalInt status =
          response
              .map(SdkHttpResponse::statusCode)
              .map(OptionalInt::of)
              .orElse(OptionalInt.empty());
      request.end(tracing.now(), status, throttled);
    }
  }
}
