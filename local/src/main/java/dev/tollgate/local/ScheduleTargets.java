package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.scheduler.Targets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * The functions and APIs that schedules call, with the rights of their roles.
 *
 * @param functions queues an event for a function by its ARN: the end of the first attempt, or
 *     empty if there is no such function
 * @param roles the roles that EventBridge Scheduler assumes
 * @param droppedOf receives the schedule group of each event that is given up
 */
record ScheduleTargets(
    BiFunction<String, String, Optional<CompletableFuture<Void>>> functions,
    AssumedRoles roles,
    String accountId,
    Consumer<String> droppedOf)
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
      case "cloudformation" ->
          new Failed(
              "CloudFormation.UnsupportedOperation",
              operation + " is not run locally: end the local cloud to delete its stack.",
              false);
      default ->
          throw new IllegalArgumentException(
              "service: " + service + " (expected: one of [cloudformation, lambda, sqs])");
    };
  }

  /**
   * Returns when the first attempt has ended, so that a settled scheduler means settled functions.
   * Lambda retries, not the schedule.
   */
  private Outcome invoke(Rights rights, ObjectNode request) {
    String functionArn = request.path("FunctionName").asText();
    Optional<Failed> denial = denial(rights, functionArn);
    if (denial.isPresent()) {
      return denial.get();
    }
    Optional<CompletableFuture<Void>> accepted =
        functions.apply(functionArn, request.path("Payload").asText());
    if (accepted.isEmpty()) {
      return new Failed("Lambda.ResourceNotFoundException", functionArn, false);
    }
    accepted.get().join();
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

  @Override
  public void dropped(String group) {
    droppedOf.accept(group);
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
