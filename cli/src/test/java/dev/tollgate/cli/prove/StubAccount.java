package dev.tollgate.cli.prove;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.prove.account.Account;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;

/** An account with scripted answers. */
final class StubAccount implements Account {
  private final Map<String, Deque<Response>> answers = new HashMap<>();
  private final List<String> requests = new ArrayList<>();
  private final String region;

  StubAccount() {
    this("eu-central-1");
    answer("sts GetCallerIdentity", 200, "<R><Account>123456789012</Account></R>");
    answer("lambda /2016-08-19/account-settings", 200, accountLimit(1000));
    answer("apigateway /account", 200, "{\"cloudwatchRoleArn\":\"arn:aws:iam::1:role/logs\"}");
    stack("CDKToolkit", true);
    stack("Tollgate-prove", false);
    stack("Tollgate-prove-probe", false);
  }

  private StubAccount(String region) {
    this.region = region;
  }

  static String accountLimit(int executions) {
    return "{\"AccountLimit\":{\"ConcurrentExecutions\":" + executions + "}}";
  }

  /**
   * Scripts the answer to a request.
   *
   * @param request the service, and the action, the target's operation or the path
   */
  void answer(String request, int status, String body) {
    answers.put(request, new ArrayDeque<>());
    then(request, status, body);
  }

  /** Scripts the answer after the others. The last one is repeated. */
  void then(String request, int status, String body) {
    answers.computeIfAbsent(request, first -> new ArrayDeque<>()).add(response(status, body));
  }

  static Response response(int status, String body) {
    return new Response(status, HttpHeaders.of(Map.of(), (name, value) -> true), body);
  }

  void stack(String name, boolean exists) {
    answer(
        "cloudformation DescribeStacks " + name,
        exists ? 200 : 400,
        exists ? "<R/>" : "<E><Message>Stack with id " + name + " does not exist</Message></E>");
  }

  List<String> requests() {
    return requests;
  }

  @Override
  public Sender api(String service) {
    return (method, path, body, headers) -> answer(service, path, body, headers);
  }

  private Response answer(
      String service, String path, Optional<JsonNode> body, Map<String, String> headers) {
    String request = service + " " + name(service, path, headers);
    requests.add(request);
    return Optional.ofNullable(answers.get(request))
        .map(left -> left.size() > 1 ? left.remove() : left.element())
        .orElseThrow(() -> new AssertionError("no answer to " + request + " " + body));
  }

  private static String name(String service, String path, Map<String, String> headers) {
    if (headers.containsKey("X-Amz-Target")) {
      // As the models of the services have it.
      assertThat(headers.getOrDefault("Content-Type", ""))
          .endsWith(service.matches("dynamodb|sqs") ? "1.0" : "1.1");
      return headers.getOrDefault("X-Amz-Target", "").replaceFirst(".*\\.", "");
    }
    String query = path.replaceFirst(".*\\?", "");
    if (!query.startsWith("Action=")) {
      return path.replaceFirst("\\?.*", "");
    }
    return query.replaceFirst("Action=(\\w+)&Version=[^&]*", "$1").replaceFirst("&StackName=", " ");
  }

  @Override
  public Api deployed(URI api) {
    return new Api(Api.client(), api, Optional.empty());
  }

  @Override
  public CloudWatchClient metrics() {
    throw new AssertionError("no metrics");
  }

  @Override
  public Map<String, String> credentials() {
    return Map.of("AWS_ACCESS_KEY_ID", "key");
  }

  @Override
  public Optional<Instant> expiresAt() {
    return Optional.empty();
  }

  @Override
  public String region() {
    return region;
  }

  @Override
  public Account inRegion(String other) {
    StubAccount account = new StubAccount(other);
    account.answers.putAll(answers);
    return account;
  }

  @Override
  public Account as(String role, Map<String, String> tags) {
    throw new AssertionError("no role");
  }
}
