package dev.tollgate.cli.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.prove.account.CdkStacks;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/** Removes the tenants, deletes the stacks, and searches what is left. */
final class Teardown implements Step {
  static final String NAME = "teardown";

  /** The part of the teardown that needs the control plane. */
  private static final String OFFBOARDING = "offboarding";

  /** The steps that create tenants. */
  private static final Set<String> CREATORS = Set.of("promises", "attacks", "load");

  /** Below the quotas of the services behind the control plane, for silos too. */
  private static final double REQUESTS_PER_SECOND = 5;

  private static final Duration ROUND = Duration.ofSeconds(5);
  private static final int ROUNDS = 60;

  /** SQS lists deleted queues for a minute (DeleteQueue). */
  private static final Duration LISTS_LATE = Duration.ofMinutes(1);

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Offboard all tenants, delete both stacks, and search for what is left.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return 2;
  }

  @Override
  public Duration usual(Run.Settings settings) {
    return Duration.ofSeconds(560 + settings.tenants() / (long) REQUESTS_PER_SECOND);
  }

  @Override
  public List<Finding> run(Run run) {
    List<Finding> findings = new ArrayList<>();
    Map<String, Map<String, String>> deployed = run.deployed();
    if (deployed.isEmpty()) {
      return List.of(nothing(run));
    }
    run.beginTeardown();
    if (deployed.containsKey(run.stackName())) {
      if (run.mayHaveBegun(Set.of("attacks"))) {
        undoRevocation(run);
      }
      findings.add(offboarded(run));
      run.destroy(run.stackName());
    }
    if (!run.stacks().areLocal()) {
      deleteRetained(run);
    }
    // The probe stack has the schedule that deletes both, and a repeated teardown begins with it.
    if (deployed.containsKey(run.probeName())) {
      run.destroy(run.probeName());
    }
    if (!run.stacks().areLocal()) {
      Preflight.logRole(run.stacks().account())
          .filter(role -> role.contains(":role/" + run.stackName() + "-"))
          .ifPresent(
              role ->
                  findings.add(
                      Finding.holds(
                          "the account's log role stays",
                          role + ", with which API Gateway writes the logs of all APIs")));
      run.shell().sleep(LISTS_LATE);
      findings.add(left(run, "of both stacks", leftOver(run, run.stacks().account())));
    }
    return findings;
  }

  /** A local cloud may have ended, with the policies. */
  private static void undoRevocation(Run run) {
    try {
      Revocation.undo(run);
    } catch (Failure failure) {
      if (!run.stacks().areLocal()) {
        throw failure;
      }
    }
  }

  /** Reports what has the names of this run although it has no stack, or none any more. */
  private static Finding nothing(Run run) {
    List<String> left = run.stacks().areLocal() ? List.of() : leftOver(run, run.stacks().account());
    return Finding.of(
        left.isEmpty(),
        "nothing has the names of this run",
        String.join(", ", left),
        "delete it by hand, or, if another run created it, use the --directory of that run");
  }

  /** Offboards all tenants once: later, the control plane may be deleted in part. */
  private static Finding offboarded(Run run) {
    return run.findings(OFFBOARDING)
        .map(done -> done.get(0))
        .orElseGet(
            () -> {
              Finding finding = offboard(run);
              if (finding.result() == Finding.Result.HOLDS) {
                run.ended(OFFBOARDING, List.of(finding));
              }
              return finding;
            });
  }

  /** Offboards all tenants, which have queues, schedules and functions that no stack has. */
  private static Finding offboard(Run run) {
    String promise = "all tenants can be offboarded, and nothing of them stays";
    if (!run.mayHaveBegun(CREATORS)) {
      // The control plane of a deployment that failed need not answer.
      return Finding.holds(promise, "no step that creates tenants has begun");
    }
    Api control;
    try {
      control = run.controlPlane();
      control.get("/tenants?limit=1").orThrow();
    } catch (Failure noAnswer) {
      if (Files.exists(run.outputsFile(run.stackName())) && isWhole(run)) {
        // Without the control plane, nobody could remove what the tenants have.
        throw noAnswer;
      }
      return Finding.unknown(promise, "the control plane does not answer: " + noAnswer.reason());
    }
    PacedApi paced = new PacedApi(control, REQUESTS_PER_SECOND, run.shell());
    List<String> tenants = tenants(control);
    for (int round = 0; round < ROUNDS && !tenants.isEmpty(); round++) {
      for (String tenant : tenants) {
        Response removed = paced.send("DELETE", Paths.tenant(tenant), Optional.empty(), Map.of());
        if (removed.status() != 404) {
          removed.orThrow();
        }
      }
      run.shell().sleep(ROUND);
      tenants = tenants(control);
    }
    if (!tenants.isEmpty()) {
      return Finding.fails(promise, "still there: " + tenants, "`tollgate doctor --repair`");
    }
    List<String> queues =
        queues(run.stacks().account(run.stackName()), run.settings().prefix()).stream()
            .filter(queue -> queue.matches(".*(_token_bucket|silo_.*)"))
            .toList();
    return left(run, "of tenants", queues);
  }

  /** Whether the stack may still have all of its resources: no deletion has begun. */
  private static boolean isWhole(Run run) {
    return !run.stacks().areLocal()
        && AwsAccount.stackStatus(run.stacks().account(), run.stackName())
            .filter(status -> !status.startsWith("DELETE_") && !status.startsWith("ROLLBACK_"))
            .isPresent();
  }

  private static List<String> tenants(Api control) {
    List<String> tenants = new ArrayList<>();
    new PageIterator(cursor -> control.get("/tenants" + Api.suffix(cursor)).orThrow().json())
        .forEachRemaining(
            page -> page.path("tenants").forEach(it -> tenants.add(it.path("tenantId").asText())));
    return tenants;
  }

  private static Finding left(Run run, String what, List<String> left) {
    return Finding.of(
        left.isEmpty(),
        "nothing is left " + what,
        String.join(", ", left),
        "delete these by hand, then say so in an issue: the stack or the control plane forgot them");
  }

  /** The audit's table stays when a stack is deleted, whatever its options are. */
  private static void deleteRetained(Run run) {
    Account account = run.stacks().account();
    tables(account)
        .filter(name -> name.startsWith(run.stackName() + "-") && name.contains("Audit"))
        .filter(name -> isOfThisRun(run, account, name))
        .forEach(
            name ->
                json(
                    account,
                    "dynamodb",
                    "DynamoDB_20120810.DeleteTable",
                    Json.object().put("TableName", name)));
  }

  /** CloudFormation copies the tags of a stack to its tables. */
  private static boolean isOfThisRun(Run run, Account account, String table) {
    String arn =
        json(
                account,
                "dynamodb",
                "DynamoDB_20120810.DescribeTable",
                Json.object().put("TableName", table))
            .path("Table")
            .path("TableArn")
            .asText();
    return json(
            account,
            "dynamodb",
            "DynamoDB_20120810.ListTagsOfResource",
            Json.object().put("ResourceArn", arn))
        .path("Tags")
        .valueStream()
        .anyMatch(
            tag ->
                tag.path("Key").asText().equals(CdkStacks.RUN)
                    && tag.path("Value").asText().equals(run.id()));
  }

  /** The names of all tables. */
  static Stream<String> tables(Account account) {
    return pages(
            (request, next) -> {
              next.ifPresent(last -> request.put("ExclusiveStartTableName", last));
              return json(account, "dynamodb", "DynamoDB_20120810.ListTables", request);
            },
            "LastEvaluatedTableName")
        .flatMap(page -> named(page, "TableNames", ""));
  }

  /** What exists with a name of this run. */
  static List<String> leftOver(Run run, Account account) {
    String stack = run.stackName() + "-";
    List<String> left = new ArrayList<>();
    Stream.of(run.settings().prefix(), stack)
        .flatMap(prefix -> queues(account, prefix).stream())
        .distinct()
        .forEach(left::add);
    tables(account).filter(name -> name.startsWith(stack)).forEach(left::add);
    pages(
            (request, next) -> {
              next.ifPresent(token -> request.put("nextToken", token));
              return json(
                  account,
                  "logs",
                  "Logs_20140328.DescribeLogGroups",
                  request.put("logGroupNamePattern", stack));
            },
            "nextToken")
        .flatMap(page -> named(page, "logGroups", "logGroupName"))
        .filter(name -> List.of(name.split("/", -1)).stream().anyMatch(it -> it.startsWith(stack)))
        .forEach(left::add);
    get(account.api("lambda"), "/2015-03-31/functions/?MaxItems=50", "Marker", "NextMarker")
        .flatMap(page -> named(page, "Functions", "FunctionName"))
        .filter(name -> name.startsWith(stack) || name.startsWith(run.settings().prefix()))
        .forEach(left::add);
    get(
            account.api("scheduler"),
            "/schedules?MaxResults=100&NamePrefix=" + run.settings().prefix(),
            "NextToken",
            "NextToken")
        .flatMap(page -> named(page, "Schedules", "Name"))
        .forEach(left::add);
    Stream.of(run.stackName(), run.probeName())
        .filter(name -> AwsAccount.hasStack(account, name))
        .forEach(name -> left.add("stack " + name));
    return left;
  }

  private static List<String> queues(Account account, String prefix) {
    return pages(
            (request, next) -> {
              next.ifPresent(token -> request.put("NextToken", token));
              // Without MaxResults, SQS ends the list after 1,000 queues and gives no token.
              return json(
                  account,
                  "sqs",
                  "AmazonSQS.ListQueues",
                  request.put("QueueNamePrefix", prefix).put("MaxResults", 1000));
            },
            "NextToken")
        .flatMap(page -> named(page, "QueueUrls", ""))
        .map(url -> url.substring(url.lastIndexOf('/') + 1))
        .toList();
  }

  /** The pages of a list that is read by GET. */
  private static Stream<JsonNode> get(Sender api, String path, String parameter, String next) {
    return pages(
        (request, token) ->
            api.get(
                    path
                        + token
                            .map(it -> "&" + parameter + "=" + URLEncoder.encode(it, UTF_8))
                            .orElse(""))
                .orThrow()
                .json(),
        next);
  }

  /**
   * The pages of a list.
   *
   * @param read reads the page of a token, with a new object for the request
   * @param next the field with the token of the next page
   */
  private static Stream<JsonNode> pages(
      BiFunction<ObjectNode, Optional<String>, JsonNode> read, String next) {
    List<JsonNode> pages = new ArrayList<>();
    Optional<String> token = Optional.empty();
    do {
      JsonNode page = read.apply(Json.object(), token);
      pages.add(page);
      token = Json.text(page, next);
    } while (token.isPresent());
    return pages.stream();
  }

  private static JsonNode json(Account account, String service, String target, JsonNode body) {
    return account.call(service, target, body).orThrow().json();
  }

  /** The texts of a list, or of a field of each of its objects. */
  private static Stream<String> named(JsonNode answer, String list, String field) {
    return answer
        .path(list)
        .valueStream()
        .map(one -> field.isEmpty() ? one.asText() : one.path(field).asText());
  }
}
