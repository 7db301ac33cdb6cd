package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.lambda.FunctionHost;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.scheduler.Targets;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The functions and APIs that schedules call, with the rights of their roles.
 *
 * @param roles the roles that EventBridge Scheduler assumes
 */
record ScheduleTargets(FunctionHost functions, AssumedRoles roles, String accountId)
    implements Targets {
  private static final String INVOKE = "lambda:InvokeFunction";

  @Override
  public Outcome call(Rights rights, String service, String operation, ObjectNode request) {
    Optional<Failed> refusal = failure(rights);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    return switch (service) {
      case "lambda" -> invoke(rights, request);
      case "sqs" -> send(rights, operation, request);
      default ->
          throw new IllegalArgumentException(
              "service: " + service + " (expected: one of [lambda, sqs])");
    };
  }

  /** Returns when the function has ended, so that a settled scheduler means settled functions. */
  private Outcome invoke(Rights rights, ObjectNode request) {
    String functionArn = request.path("FunctionName").asText();
    Optional<Failed> denial = denial(rights, functionArn);
    if (denial.isPresent()) {
      return denial.get();
    }
    InvocationResult result =
        functions.invoke(
            functionArn, request.path("Payload").asText().getBytes(StandardCharsets.UTF_8));
    if (result instanceof InvocationResult.NotFound) {
      return new Failed("Lambda.ResourceNotFoundException", functionArn, false);
    }
    if (result instanceof InvocationResult.Throttled throttled) {
      return new Failed("Lambda.TooManyRequestsException", throttled.reason(), true);
    }
    return new Delivered();
  }

  private Outcome send(Rights rights, String operation, ObjectNode request) {
    Answer answer = roles.client(rights.roleArn()).call("sqs", "AmazonSQS." + operation, request);
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
    return roles
        .denial(rights.roleArn(), Access.to(INVOKE, functionArn))
        .map(message -> new Failed("Lambda.AccessDeniedException", message, false));
  }
}
