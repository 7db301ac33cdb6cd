package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.lambda.Functions;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.scheduler.Targets;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The functions and APIs that schedules call, with the rights of their roles.
 *
 * @param roles the roles that EventBridge Scheduler assumes
 * @param policies the policies that are enforced; without them every call is allowed
 */
record ScheduleTargets(
    Functions functions, AssumedRoles roles, Optional<Policies> policies, String accountId)
    implements Targets {
  private static final String INVOKE = "lambda:InvokeFunction";

  /** Returns when the function has ended, so that a settled scheduler means settled functions. */
  @Override
  public Outcome invokeFunction(Rights rights, String functionArn, String payload) {
    Optional<Failed> refusal = failure(rights).or(() -> denial(rights, functionArn));
    if (refusal.isPresent()) {
      return refusal.get();
    }
    InvocationResult invocation =
        functions.invoke(functionArn, payload.getBytes(StandardCharsets.UTF_8));
    if (invocation instanceof InvocationResult.NotFound) {
      return new Failed("Lambda.ResourceNotFoundException", functionArn, false);
    }
    if (invocation instanceof InvocationResult.Throttled throttled) {
      return new Failed("Lambda.TooManyRequestsException", throttled.reason(), true);
    }
    return new Delivered();
  }

  @Override
  public Outcome callApi(Rights rights, String service, String operation, ObjectNode request) {
    Optional<Failed> refusal = failure(rights);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    if (!service.equals("sqs")) {
      throw new IllegalArgumentException("service: " + service + " (expected: one of [sqs])");
    }
    Answer answer = roles.client(rights.roleArn()).call(service, "AmazonSQS." + operation, request);
    return answer.succeeded()
        ? new Delivered()
        : new Failed(
            answer.errorCode(),
            answer.body().toString(),
            answer.status() >= 500 || answer.errorCode().contains("Throttl"));
  }

  @Override
  public Optional<String> refusal(Rights rights) {
    Context context =
        Context.EMPTY.with("aws:SourceArn", rights.groupArn()).with("aws:SourceAccount", accountId);
    return roles.mayAssume(rights.roleArn(), context)
        ? Optional.empty()
        : Optional.of(
            "The execution role "
                + rights.roleArn()
                + " must allow AWS EventBridge Scheduler to assume the role.");
  }

  private Optional<Failed> failure(Rights rights) {
    return refusal(rights)
        .map(message -> new Failed("AWS.Scheduler.AccessDeniedException", message, false));
  }

  private Optional<Failed> denial(Rights rights, String functionArn) {
    return policies
        .flatMap(
            all -> all.denial(roles.principal(rights.roleArn()), Access.to(INVOKE, functionArn)))
        .map(message -> new Failed("Lambda.AccessDeniedException", message, false));
  }
}
