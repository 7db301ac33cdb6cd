package dev.tollgate.local;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Caller;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Decision.Denied;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.lambda.Functions;
import dev.tollgate.local.lambda.Invocation;
import dev.tollgate.local.scheduler.Targets;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** What schedules call: this cloud's functions, queues and APIs. */
final class ScheduleTargets implements Targets {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What the operations of a service are called by in its protocol. */
  private static final Map<String, String> NAME_SPACES = Map.of("sqs", "AmazonSQS");

  private static final String CALLER = "Scheduler";
  private static final String INVOKE = "lambda:InvokeFunction";
  private static final Caller.Service SERVICE = new Caller.Service("scheduler.amazonaws.com");

  private final Functions functions;
  private final Function<Principal, ServiceClient> clients;
  private final Optional<Policies> policies;
  private final String accountId;
  private final Map<String, ServiceClient> byRole = new ConcurrentHashMap<>();

  /**
   * @param clients calls APIs for somebody
   * @param policies what schedules may do; without them they may do everything
   */
  ScheduleTargets(
      Functions functions,
      Function<Principal, ServiceClient> clients,
      Optional<Policies> policies,
      String accountId) {
    this.functions = functions;
    this.clients = clients;
    this.policies = policies;
    this.accountId = accountId;
  }

  /** Returns when the function has ended, so that a settled scheduler means settled functions. */
  @Override
  public Outcome invokeFunction(Rights rights, String functionArn, String payload) {
    Optional<Failed> refusal =
        failure(rights)
            .or(
                () ->
                    policies
                        .map(
                            all ->
                                all.decide(
                                    Principal.of(CALLER, rights.roleArn()),
                                    Access.to(INVOKE, functionArn)))
                        .filter(Denied.class::isInstance)
                        .map(
                            denied ->
                                new Failed(
                                    "Lambda.AccessDeniedException",
                                    ((Denied) denied).message(),
                                    false)));
    if (refusal.isPresent()) {
      return refusal.get();
    }
    Invocation invocation = functions.invoke(functionArn, payload.getBytes(StandardCharsets.UTF_8));
    if (invocation instanceof Invocation.NotFound) {
      return new Failed("Lambda.ResourceNotFoundException", functionArn, false);
    }
    if (invocation instanceof Invocation.Throttled throttled) {
      return new Failed("Lambda.TooManyRequestsException", throttled.reason(), true);
    }
    return new Delivered();
  }

  @Override
  public Outcome sendMessage(
      Rights rights,
      String queueArn,
      String body,
      Optional<String> messageGroupId,
      Map<String, String> attributes) {
    String[] arn = queueArn.split(":", -1);
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    request.put("QueueUrl", "https://sqs.%s.amazonaws.com/%s/%s".formatted(arn[3], arn[4], arn[5]));
    request.put("MessageBody", body);
    messageGroupId.ifPresent(group -> request.put("MessageGroupId", group));
    ObjectNode messageAttributes = request.putObject("MessageAttributes");
    attributes.forEach(
        (name, value) ->
            messageAttributes.putObject(name).put("DataType", "String").put("StringValue", value));
    return call(rights, "sqs", "SendMessage", request);
  }

  @Override
  public Outcome callApi(Rights rights, String service, String operation, String request) {
    try {
      return call(rights, service, operation, JSON.readTree(request));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("request: " + request + " (expected: JSON)", e);
    }
  }

  private Outcome call(Rights rights, String service, String operation, JsonNode request) {
    Optional<Failed> refusal = failure(rights);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    String nameSpace = NAME_SPACES.get(service);
    if (nameSpace == null) {
      throw new IllegalArgumentException(
          "service: " + service + " (expected: one of " + NAME_SPACES.keySet() + ")");
    }
    ServiceClient client =
        byRole.computeIfAbsent(rights.roleArn(), role -> clients.apply(Principal.of(CALLER, role)));
    Answer answer = client.call(service, nameSpace + "." + operation, request);
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
    return policies
        .filter(all -> !all.trusts(rights.roleArn(), SERVICE, context))
        .map(
            all ->
                "The execution role "
                    + rights.roleArn()
                    + " must allow AWS EventBridge Scheduler to assume the role.");
  }

  private Optional<Failed> failure(Rights rights) {
    return refusal(rights)
        .map(message -> new Failed("AWS.Scheduler.AccessDeniedException", message, false));
  }
}
