package dev.tollgate.cli.prove;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.account.CdkStacks;
import dev.tollgate.cli.prove.account.Stacks;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code tollgate prove} asks and refuses before it creates something, and what it leaves. */
final class ProveCommandTest {
  private static final Instant NOW = Instant.parse("2026-03-12T14:00:00Z");

  @TempDir private Path home;

  private final StubAccount account = new StubAccount();
  private final List<String> deployments = new ArrayList<>();
  private final List<String> roles = new ArrayList<>();
  private final StringWriter err = new StringWriter();
  private List<String> printed = List.of();
  private Runnable whileDeploying = () -> {};
  private Instant now = NOW;

  @BeforeEach
  void checkout() throws IOException {
    Files.writeString(home.resolve("cdk.json"), "{}");
    account.answer("sqs ListQueues", 200, "{}");
    account.answer("dynamodb ListTables", 200, "{\"TableNames\":[\"Tollgate-prove2-X\"]}");
    account.answer("dynamodb DeleteTable", 200, "{}");
    account.answer("logs DescribeLogGroups", 200, "{}");
    account.answer("lambda /2015-03-31/functions/", 200, "{}");
    account.answer("scheduler /schedules", 200, "{}");
  }

  /** An account on AWS whose deployments only fail. */
  private final class RefusingStacks implements Stacks {
    @Override
    public Account account() {
      return account;
    }

    @Override
    public Account account(String name) {
      return account;
    }

    @Override
    public boolean areLocal() {
      return false;
    }

    @Override
    public void deploy(String name, String runId, Map<String, String> context, Path outputs) {
      deployments.add("deploy " + name + " " + context.get("deleteAt"));
      whileDeploying.run();
      roles.add(context.getOrDefault("accountLogRole", ""));
      throw Failure.of("planted");
    }

    @Override
    public void destroy(String name, String runId, Map<String, String> context) {
      deployments.add("destroy " + name + " " + context);
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }

  private final class Environment implements CommandEnvironment {
    @Override
    public Target target() {
      throw new AssertionError("a target");
    }

    @Override
    public Sender controlPlane() {
      throw new AssertionError("a control plane");
    }

    @Override
    public boolean isCsv() {
      return false;
    }

    @Override
    public void print(Response response, List<String> lines) {
      printed = lines;
    }

    @Override
    public void print(JsonNode document, List<String> lines) {
      printed = lines;
    }

    @Override
    public Response found(Response response, String missing) {
      return response;
    }

    @Override
    public List<JsonNode> tenants(Sender api, SortedMap<String, String> filters) {
      return List.of();
    }

    @Override
    public Progress progress() {
      throw new AssertionError("progress");
    }
  }

  private Failure failure(Optional<String> typed, String... arguments) {
    try {
      prove(typed, arguments);
    } catch (Failure failure) {
      return failure;
    }
    throw new AssertionError("no failure: " + printed);
  }

  private int prove(Optional<String> typed, String... arguments) {
    ProveCommand command =
        new ProveCommand(
            new Environment(),
            shell(typed),
            new ProveCommand.StacksFactory() {
              @Override
              public Stacks rehearsal(Path directory) {
                throw new AssertionError("a rehearsal");
              }

              @Override
              public Stacks aws(Path directory) {
                return new RefusingStacks();
              }
            },
            () -> now);
    new CommandLine(command).parseArgs(arguments);
    return command.call();
  }

  private Shell shell(Optional<String> typed) {
    return new Shell(
        new ByteArrayInputStream(new byte[0]),
        new PrintWriter(Writer.nullWriter()),
        new PrintWriter(err, true),
        home,
        Optional.of(home),
        Map.of("XDG_CONFIG_HOME", home.resolve("config").toString()),
        typed.map(reply -> new Shell.Terminal(prompt -> reply)),
        () -> 0,
        time -> {});
  }

  @Test
  void nothing_begins_until_the_account_is_typed() {
    assertThat(failure(Optional.of("y")).reason()).isEqualTo("Cancelled. Nothing was created.");
    assertThat(failure(Optional.empty()).reason()).contains("Use --account NUMBER.");
    assertThat(failure(Optional.empty(), "--account", "999999999999").reason())
        .contains("--account: 999999999999 (expected: 123456789012");

    assertThat(deployments).isEmpty();
    assertThat(err.toString())
        .contains("questions  at most $0.02")
        .contains("Together at most $0.30");
  }

  @Test
  void the_costs_and_times_grow_with_the_load() {
    failure(Optional.of("123456789012"), "--tenants", "1000", "--handshakes", "10000");

    assertThat(err.toString())
        .contains("load       at most $1.25", "Together at most $1.45, and usually 48 minutes");

    account.answer("ce GetCostAndUsage", 200, "{}");
    assertThat(prove(Optional.empty(), "--bill")).isZero();
    assertThat(printed).as("the attempts").last().asString().endsWith("at most $0.02.");
  }

  @Test
  void a_role_that_stays_is_said_before_and_after() throws IOException {
    account.answer("apigateway /account", 200, "{}");
    failure(Optional.of("n"));
    assertThat(err.toString()).contains("The stack sets one, which stays");

    // The other stack was deleted in an earlier attempt.
    ObjectNode state = state("2026-03-12T13:00:00Z");
    state.withObject("/stacks/Tollgate-prove-probe").put("probe", "true");
    resume(state);
    String role = "arn:aws:iam::1:role/Tollgate-prove-LogRole";
    account.answer("apigateway /account", 200, "{\"cloudwatchRoleArn\":\"" + role + "\"}");
    prove(Optional.empty(), "--teardown");
    assertThat(String.join("\n", printed)).contains("HOLDS: the account's log role stays (" + role);
  }

  @Test
  void a_role_of_somebody_else_is_not_said_to_stay() throws IOException {
    failure(Optional.of("n"));
    assertThat(err.toString()).doesNotContain("writes logs");

    ObjectNode state = state("2026-03-12T13:00:00Z");
    state.withObject("/stacks/Tollgate-prove").put("accountLogRole", "set");
    resume(state);
    prove(Optional.empty(), "--teardown");
    assertThat(String.join("\n", printed)).doesNotContain("log role stays");
  }

  @Test
  void a_deployment_that_goes_on_still_sets_the_role() throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    for (String ended : List.of("preflight", "questions")) {
      state.withArray("/steps").addObject().put("name", ended).putArray("findings");
    }
    state.withObject("/stacks/Tollgate-prove").put("accountLogRole", "set");
    resume(state);

    // The failed deployment has set the role already.
    failure(Optional.of("123456789012"));

    assertThat(roles).containsExactly("set");
  }

  @Test
  void a_run_has_one_process_at_a_time() throws Exception {
    Path directory = home.resolve(".tollgate/prove-prove_");
    RunLock lock = RunLock.of(directory);
    assertThat(failure(Optional.of("123456789012")).reason())
        .isEqualTo(
            "Process %d works on the run in %s. Wait until it ends, stop it with Ctrl-C in its terminal, or use another --prefix."
                .formatted(ProcessHandle.current().pid(), directory));
    lock.close();
    failure(Optional.of("123456789012"));
    assertThat(deployments).hasSize(1);
  }

  @Test
  void a_tenant_that_is_denied_its_own_rows_proves_nothing() {
    Response denied = StubAccount.response(403, "AccessDenied");
    Response rows = StubAccount.response(200, "{}");

    assertThat(Attacks.ofOneTenant("own", rows, "others", denied))
        .extracting(Finding::result)
        .containsExactly(Finding.Result.HOLDS, Finding.Result.HOLDS);
    assertThat(Attacks.ofOneTenant("own", rows, "others", rows))
        .extracting(Finding::result)
        .containsExactly(Finding.Result.HOLDS, Finding.Result.FAILS);
    assertThat(Attacks.ofOneTenant("own", denied, "others", denied))
        .extracting(Finding::result)
        .containsExactly(Finding.Result.FAILS, Finding.Result.UNKNOWN);
  }

  @Test
  void the_cdk_is_not_in_the_process_group_that_a_terminal_stops() throws Exception {
    String group = "ps -o pgid= -p ";
    CdkStacks stacks =
        new CdkStacks(
            account,
            shell(Optional.empty()),
            home,
            home.resolve("run"),
            List.of("sh", "-c", group + "$$; exit 3"));

    try {
      stacks.destroy("Tollgate-prove", "run-1", Map.of());
      throw new AssertionError("no failure");
    } catch (Failure failed) {
      assertThat(failed.getMessage()).contains("failed with exit code 3");
    }
    Process own = new ProcessBuilder("sh", "-c", group + ProcessHandle.current().pid()).start();
    assertThat(Files.readString(home.resolve("run/Tollgate-prove/destroy.log")).strip())
        .matches("\\d+")
        .isNotEqualTo(new String(own.getInputStream().readAllBytes(), UTF_8).strip());
  }

  @Test
  @Timeout(60)
  void a_stopped_cdk_ends_with_its_children() throws Exception {
    Path started = home.resolve("started");
    CdkStacks stacks =
        new CdkStacks(
            account,
            shell(Optional.empty()),
            home,
            home.resolve("run"),
            List.of("sh", "-c", "sleep 600 & echo $$ $! > " + started + "; wait"));
    Thread command =
        new Thread(
            () -> {
              try {
                stacks.destroy("Tollgate-prove", "run-1", Map.of());
              } catch (Failure stopped) {
                // As it must.
              }
            });
    command.start();
    while (!Files.exists(started) || Files.size(started) == 0) {
      Thread.onSpinWait();
    }
    command.interrupt();
    command.join();

    for (String process : Files.readString(started).strip().split(" ")) {
      assertThat(ProcessHandle.of(Long.parseLong(process)).filter(ProcessHandle::isAlive))
          .isEmpty();
    }
  }

  @Test
  void the_probe_stack_is_the_first_and_deletes_both_after_two_hours() {
    Failure failure = failure(Optional.of("123456789012"));

    assertThat(deployments).containsExactly("deploy Tollgate-prove-probe 2026-03-12T16:00:00");
    assertThat(failure.reason())
        .contains("planted")
        .contains("Run `tollgate prove` again to go on");
  }

  @Test
  void a_run_goes_on_with_the_step_that_failed() {
    failure(Optional.of("123456789012"));
    account.requests().clear();
    failure(Optional.of("123456789012"));

    assertThat(deployments).hasSize(2);
    assertThat(account.requests())
        .as("no second preflight")
        .containsExactly("sts GetCallerIdentity", "apigateway /account");
  }

  @Test
  void a_run_is_of_one_account() {
    failure(Optional.of("123456789012"));
    account.answer("sts GetCallerIdentity", 200, "<R><Account>210987654321</Account></R>");

    assertThat(failure(Optional.of("210987654321")).reason())
        .contains("is of account 123456789012 eu-central-1 (expected: 210987654321 eu-central-1)");
  }

  @Test
  void a_stack_of_somebody_else_is_never_touched() {
    account.stack("Tollgate-prove", true);

    assertThat(failure(Optional.of("123456789012")).reason())
        .contains("Stack Tollgate-prove exists in account 123456789012");
    assertThat(prove(Optional.empty(), "--teardown")).isNotZero();
    assertThat(String.join("\n", printed))
        .contains("FAILS: nothing has the names of this run", "seen: stack Tollgate-prove");
    assertThat(deployments).isEmpty();
  }

  @Test
  void a_stack_that_somebody_else_created_meanwhile_is_not_touched() throws IOException {
    account.answer(
        "cloudformation DescribeStacks Tollgate-prove",
        200,
        "<R><Tags><member><Key>tollgate-prove</Key><Value>run-2</Value></member></Tags></R>");
    CdkStacks stacks =
        new CdkStacks(account, shell(Optional.empty()), home, home.resolve("run"), List.of("true"));

    for (String runId : List.of("run-1", "run-2")) {
      String outcome = "destroyed";
      try {
        stacks.destroy("Tollgate-prove", runId, Map.of());
      } catch (Failure refused) {
        outcome = refused.reason();
      }
      assertThat(outcome)
          .startsWith(
              runId.equals("run-2")
                  ? "destroyed"
                  : "Stack Tollgate-prove has no tag tollgate-prove=run-1");
    }
  }

  @Test
  void a_run_is_of_one_prefix() {
    failure(Optional.of("123456789012"), "--directory", "run");

    assertThat(
            failure(Optional.of("123456789012"), "--directory", "run", "--prefix", "live_")
                .reason())
        .contains("is of --prefix prove_ (expected: live_)");
  }

  @Test
  void names_that_are_taken_are_refused_before_anything_is_created() {
    account.answer("dynamodb ListTables", 200, "{\"TableNames\":[\"Tollgate-prove-X\"]}");

    assertThat(failure(Optional.of("123456789012")).reason())
        .contains("Names of this run are taken: Tollgate-prove-X");
    assertThat(deployments).isEmpty();
  }

  @Test
  void a_production_context_of_the_same_stack_is_refused() throws IOException {
    Path contexts =
        Files.createDirectories(home.resolve("config/tollgate")).resolve("contexts.json");
    Files.writeString(
        contexts,
        """
        {"contexts": {"live": {"outputs": "%s", "stack": "Tollgate-prove",
          "url": "https://example.com", "production": true}}}"""
            .formatted(home.resolve("aws.json")));

    assertThat(failure(Optional.of("123456789012")).reason())
        .isEqualTo(
            "Context live is the production deployment Tollgate-prove. Choose another --prefix.");
  }

  @Test
  void an_account_without_bootstrap_or_credentials_says_what_to_do() {
    account.stack("CDKToolkit", false);
    assertThat(failure(Optional.of("123456789012")).reason()).contains("aws-cdk@", "bootstrap");

    account.answer("sts GetCallerIdentity", 403, "<E><Message>expired</Message></E>");
    assertThat(failure(Optional.of("123456789012")).reason())
        .contains("AWS does not accept these credentials: 403 expired");
  }

  @Test
  void the_root_user_is_refused() {
    account.answer(
        "sts GetCallerIdentity",
        200,
        "<R><Account>123456789012</Account><Arn>arn:aws:iam::123456789012:root</Arn></R>");

    assertThat(failure(Optional.of("123456789012")).reason())
        .startsWith("arn:aws:iam::123456789012:root may not assume roles");
  }

  @Test
  void a_denied_administrator_proves_nothing_unless_another_table_is_allowed() {
    String denied = "{\"__type\":\"AccessDeniedException\"}";
    account.answer("dynamodb Scan", 400, denied);
    assertThat(administrator()).isEqualTo(Finding.Result.UNKNOWN);

    account.answer("dynamodb Scan", 200, "{}");
    account.then("dynamodb Scan", 400, denied);
    assertThat(administrator()).isEqualTo(Finding.Result.HOLDS);

    account.answer("dynamodb Scan", 200, "{}");
    assertThat(administrator()).isEqualTo(Finding.Result.FAILS);
  }

  private Finding.Result administrator() {
    return Attacks.administrator("closed", account, "Limits", Json.object().put("TableName", "C"))
        .result();
  }

  @Test
  void few_executions_are_a_finding() {
    account.answer("lambda /2016-08-19/account-settings", 200, StubAccount.accountLimit(10));

    failure(Optional.of("123456789012"));

    assertThat(err.toString()).contains("FAILS the account may run 200 functions at once: 10");
  }

  @Test
  void the_teardown_deletes_the_probe_last_and_names_what_is_left() throws IOException {
    ObjectNode state = state("2026-03-12T13:00:00Z");
    state.withObject("/stacks/Tollgate-prove-probe").put("probe", "true");
    state.withObject("/stacks/Tollgate-prove").put("demo", "false");
    resume(state);
    account.answer(
        "sqs ListQueues",
        200,
        "{\"QueueUrls\":[\"https://sqs/1/prove_connect_acme_token_bucket\"]}");
    account.answer("dynamodb ListTables", 200, "{\"TableNames\":[\"Tollgate-prove-X\",\"Other\"]}");
    // A page of each list has nothing of the run.
    account.answer("logs DescribeLogGroups", 200, "{\"logGroups\":[],\"nextToken\":\"2\"}");
    account.then(
        "logs DescribeLogGroups",
        200,
        "{\"logGroups\":[{\"logGroupName\":\"/aws/lambda/Tollgate-prove-log\"}]}");
    account.answer(
        "lambda /2015-03-31/functions/",
        200,
        "{\"Functions\":[{\"FunctionName\":\"mine\"}],\"NextMarker\":\"a/b\"}");
    account.then(
        "lambda /2015-03-31/functions/",
        200,
        "{\"Functions\":[{\"FunctionName\":\"prove_silo_f\"}],\"NextMarker\":null}");
    account.answer("scheduler /schedules", 200, "{\"Schedules\":[],\"NextToken\":\"2\"}");
    account.then("scheduler /schedules", 200, "{\"Schedules\":[{\"Name\":\"prove_fill\"}]}");

    int exitCode = prove(Optional.empty(), "--teardown");

    assertThat(exitCode).isEqualTo(1);
    assertThat(deployments)
        .containsExactly(
            "destroy Tollgate-prove {demo=false}", "destroy Tollgate-prove-probe {probe=true}");
    assertThat(String.join("\n", printed))
        .contains("FAILS: nothing is left of both stacks")
        .contains(
            "seen: prove_connect_acme_token_bucket, Tollgate-prove-X,"
                + " /aws/lambda/Tollgate-prove-log, prove_silo_f, prove_fill")
        .doesNotContain("mine", "Other");

    checkout();
    prove(Optional.empty(), "--teardown");

    assertThat(deployments).as("the stacks are gone").hasSize(2);
    assertThat(String.join("\n", printed)).as("tried again").doesNotContain("FAILS");
  }

  @Test
  void a_step_that_could_lose_its_stack_does_not_begin() throws IOException {
    resume(state("2026-03-12T12:01:00Z"));

    prove(Optional.empty(), "--account", "123456789012");

    assertThat(deployments).isEmpty();
    assertThat(err.toString())
        .contains("questions  is not tried", "Together at most $0.02, and usually 10 minutes");
  }

  @Test
  void a_step_begins_only_if_the_teardown_can_end_after_it() throws IOException {
    // The preflight takes 10 s and the teardown 10 minutes, so that the probe stack has 49 s.
    resume(state("2026-03-12T12:11:00Z"));

    prove(Optional.empty(), "--account", "123456789012");

    assertThat(deployments).isEmpty();
    assertThat(account.requests()).as("preflight").contains("lambda /2016-08-19/account-settings");
  }

  @Test
  void after_a_teardown_that_failed_only_the_teardown_follows() throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    state.withObject("/stacks/Tollgate-prove-probe").put("probe", "true");
    resume(state);
    account.answer("dynamodb ListTables", 400, "{\"message\":\"planted\"}");
    failure(Optional.empty(), "--teardown");
    checkout();

    prove(Optional.empty(), "--account", "123456789012");

    assertThat(deployments).containsExactly("destroy Tollgate-prove-probe {probe=true}");
  }

  @Test
  void tenants_are_offboarded_once() throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    state.withObject("/stacks/Tollgate-prove").put("demo", "false");
    state
        .withArray("/steps")
        .addObject()
        .put("name", "offboarding")
        .withArray("findings")
        .add(Finding.holds("planted", "").document());
    resume(state);
    Files.createDirectories(home.resolve(".tollgate/prove-prove_/Tollgate-prove"));
    Files.writeString(home.resolve(".tollgate/prove-prove_/Tollgate-prove/outputs.json"), "{}");
    account.stack("Tollgate-prove", true);

    prove(Optional.empty(), "--teardown");

    assertThat(deployments).containsExactly("destroy Tollgate-prove {demo=false}");
  }

  @Test
  void a_list_without_the_stacks_own_tables_proves_nothing() {
    assertThat(Attacks.withoutCredentials(List.of("Other"), "Limits").result())
        .isEqualTo(Finding.Result.UNKNOWN);
    assertThat(Attacks.withoutCredentials(List.of("Limits"), "Limits").result())
        .isEqualTo(Finding.Result.HOLDS);
  }

  @Test
  void what_an_attack_got_is_in_no_report() {
    Response secret = StubAccount.response(200, "{\"Items\":[{\"secretAccessKey\":\"s3cret\"}]}");
    assertThat(Attacks.ofOneTenant("own", secret, "others", secret).toString())
        .contains("FAILS", "200, which gives access")
        .doesNotContain("s3cret");
  }

  @Test
  void an_answer_that_is_no_denial_proves_nothing() {
    Response rows = StubAccount.response(200, "{}");
    for (String error :
        List.of("ExpiredTokenException", "ThrottlingException", "InvalidSignatureException")) {
      Response answer = StubAccount.response(403, "{\"__type\":\"" + error + "\"}");
      assertThat(Attacks.ofOneTenant("own", rows, "others", answer))
          .as(error)
          .extracting(Finding::result)
          .containsExactly(Finding.Result.HOLDS, Finding.Result.UNKNOWN);
    }
  }

  @Test
  void a_revocation_costs_a_retry_for_each_function_and_no_more() {
    assertThat(List.of(List.of(101, 101, 101), List.of(503, 500, 503, 101, 101, 101)))
        .extracting(statuses -> Revocation.outcome(statuses).result())
        .containsOnly(Finding.Result.HOLDS);
    Finding outage = Revocation.outcome(List.of(503, 503, 503, 503, 101, 101, 101));
    assertThat(outage.result()).isEqualTo(Finding.Result.FAILS);
    assertThat(outage.seen()).contains("[503, 503, 503, 503, 101, 101, 101]");
    assertThat(outage.mend())
        .isEqualTo("aws/src/main/java/dev/tollgate/aws/credentials/DeniedSessions.java");
    assertThat(Revocation.outcome(List.of(503, 101, 503, 101, 0)).result())
        .isEqualTo(Finding.Result.FAILS);
  }

  @Test
  void an_api_is_closed_only_if_api_gateway_refuses() {
    Map.of(
            401, Finding.Result.HOLDS,
            403, Finding.Result.HOLDS,
            400, Finding.Result.FAILS,
            404, Finding.Result.FAILS,
            200, Finding.Result.FAILS,
            429, Finding.Result.UNKNOWN,
            503, Finding.Result.UNKNOWN)
        .forEach(
            (status, result) ->
                assertThat(Attacks.closed("closed", StubAccount.response(status, "")).result())
                    .as("status %d", status)
                    .isEqualTo(result));
  }

  @Test
  void attempts_together_cost_no_more_than_two_dollars() throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    state.withArray("/begun").addObject().put("name", "load").put("cents", 199);
    resume(state);

    assertThat(failure(Optional.of("123456789012")).reason())
        .contains(
            "Step questions costs at most $0.02, and the attempts so far at most $1.99: together"
                + " more than $2.00.");
    assertThat(deployments).isEmpty();
    assertThat(err.toString()).contains("The steps so far cost at most $1.99.");

    prove(Optional.empty(), "--teardown");
    assertThat(printed)
        .as("the teardown is done all the same")
        .contains("- load: $1.99", "- preflight: $0.00", "- teardown: $0.02")
        .contains("- together: $2.01");
  }

  @Test
  void a_damaged_file_is_refused_without_touching_a_stack() throws IOException {
    account.answer("cloudformation DescribeStacks Tollgate-prove", 200, "<R><Value></Value></R>");
    for (String damaged :
        List.of(
            "",
            "null",
            "[]",
            Json.write(state("2026-03-12T13:59:00Z")).substring(0, 60),
            Json.write(state("2026-03-12T13:59:00Z").put("id", "")),
            Json.write(state("yesterday")))) {
      resume(damaged);
      for (String option : List.of("--teardown", "--bill", "--parallel=4")) {
        assertThat(failure(Optional.of("123456789012"), option).reason())
            .as("%s with %s", option, damaged)
            .contains("run.json is damaged", "Tollgate-prove-probe", "Then delete the file.");
      }
    }
    assertThat(deployments).isEmpty();
  }

  @Test
  void a_run_of_another_version_can_only_be_deleted() throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    state.remove(List.of("format", "begun"));
    state.withObject("/stacks/Tollgate-prove-probe").put("probe", "true");
    resume(state);

    assertThat(failure(Optional.of("123456789012")).reason())
        .contains("is of another version of Tollgate", "--teardown");
    assertThat(deployments).isEmpty();

    prove(Optional.empty(), "--teardown");
    assertThat(deployments).containsExactly("destroy Tollgate-prove-probe {probe=true}");
    failure(Optional.of("123456789012"));
    assertThat(deployments).as("a new run").last().asString().startsWith("deploy");
  }

  @Test
  void a_step_whose_stacks_were_deleted_meanwhile_does_not_count() throws IOException {
    // The machine sleeps for three hours while CloudFormation creates the stack.
    resume(state("2026-03-12T13:59:00Z"));
    whileDeploying = () -> now = NOW.plusSeconds(3 * 3_600);

    int exitCode = prove(Optional.of("123456789012"));

    assertThat(exitCode).isEqualTo(1);
    assertThat(err.toString())
        .contains("questions  does not count: the stacks were deleted while it ran")
        .contains("load       is not tried");
    assertThat(deployments)
        .as("the stacks may have been created after their deletion")
        .hasSize(2)
        .last()
        .asString()
        .startsWith("destroy Tollgate-prove-probe");
    assertThat(String.join("\n", printed)).contains("Not done: questions, deploy, promises");
  }

  @Test
  void a_deployment_that_failed_is_deleted_although_its_control_plane_does_not_answer()
      throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    state.withArray("/begun").addObject().put("name", "deploy").put("cents", 10);
    state.withObject("/stacks/Tollgate-prove").put("demo", "false");
    resume(state);
    outputs();
    account.stack("Tollgate-prove", true);

    prove(Optional.empty(), "--teardown");

    assertThat(deployments).containsExactly("destroy Tollgate-prove {demo=false}");
  }

  @Test
  void a_stack_whose_deletion_has_begun_is_deleted_without_its_control_plane() throws IOException {
    ObjectNode state = state("2026-03-12T13:59:00Z");
    state.withArray("/begun").addObject().put("name", "load").put("cents", 10);
    state.withObject("/stacks/Tollgate-prove").put("demo", "false");
    resume(state);
    outputs();
    account.answer("cloudformation DescribeStacks Tollgate-prove", 200, status("CREATE_COMPLETE"));

    failure(Optional.empty(), "--teardown");
    assertThat(deployments).as("tenants may have queues").isEmpty();

    for (String status : List.of("DELETE_FAILED", "ROLLBACK_COMPLETE")) {
      deployments.clear();
      resume(state);
      account.answer("cloudformation DescribeStacks Tollgate-prove", 200, status(status));
      prove(Optional.empty(), "--teardown");

      assertThat(deployments).as(status).containsExactly("destroy Tollgate-prove {demo=false}");
      assertThat(String.join("\n", printed)).contains("UNKNOWN: all tenants can be offboarded");
    }
  }

  private static String status(String status) {
    return "<R><StackStatus>" + status + "</StackStatus></R>";
  }

  private void outputs() throws IOException {
    Path directory = Files.createDirectories(home.resolve(".tollgate/prove-prove_/Tollgate-prove"));
    Files.writeString(
        directory.resolve("outputs.json"),
        "{\"Tollgate-prove\":{\"ControlPlaneURL\":\"http://127.0.0.1:1\"}}");
  }

  @Test
  void outputs_of_an_earlier_deployment_are_not_those_of_this_one() throws IOException {
    outputs();
    Path earlier = home.resolve(".tollgate/prove-prove_/Tollgate-prove-probe/outputs.json");
    Files.createDirectories(earlier.getParent());
    Files.writeString(earlier, "{}");

    failure(Optional.of("123456789012"));

    assertThat(earlier).doesNotExist();
  }

  @Test
  void a_teardown_that_fails_says_that_nothing_else_deletes() throws IOException {
    ObjectNode state = state("2026-03-12T11:59:00Z");
    state.withObject("/stacks/Tollgate-prove-probe").put("probe", "true");
    resume(state);
    account.answer("dynamodb ListTables", 400, "{\"message\":\"planted\"}");

    assertThat(failure(Optional.empty(), "--teardown").reason())
        .contains("planted", "are not deleted by themselves any more");
  }

  @Test
  void an_audit_table_of_another_run_stays() throws IOException {
    account.answer("dynamodb ListTables", 200, "{\"TableNames\":[\"Tollgate-prove-Audit\"]}");
    account.answer("dynamodb DescribeTable", 200, "{\"Table\":{\"TableArn\":\"arn\"}}");
    for (String run : List.of("run-2", "run-1")) {
      ObjectNode state = state("2026-03-12T13:59:00Z");
      state.withObject("/stacks/Tollgate-prove-probe").put("probe", "true");
      resume(state);
      account.requests().clear();
      account.answer(
          "dynamodb ListTagsOfResource",
          200,
          "{\"Tags\":[{\"Key\":\"tollgate-prove\",\"Value\":\"" + run + "\"}]}");
      prove(Optional.empty(), "--teardown");

      assertThat(account.requests().contains("dynamodb DeleteTable"))
          .as(run)
          .isEqualTo(run.equals("run-1"));
    }
  }

  /** A run without an ended step. */
  private static ObjectNode state(String beganAt) {
    ObjectNode state = Json.object();
    state
        .put("format", 2)
        .put("id", "run-1")
        .put("prefix", "prove_")
        .put("account", "123456789012")
        .put("region", "eu-central-1")
        .put("beganAt", beganAt)
        .putArray("steps");
    state.putArray("begun");
    return state;
  }

  private void resume(ObjectNode state) throws IOException {
    resume(Json.write(state));
  }

  private void resume(String state) throws IOException {
    Path directory = Files.createDirectories(home.resolve(".tollgate/prove-prove_"));
    Files.writeString(directory.resolve("run.json"), state);
  }

  @Test
  void the_bill_is_of_the_days_of_the_run_and_of_its_region() {
    failure(Optional.of("123456789012"));
    account.answer(
        "ce GetCostAndUsage",
        200,
        """
        {"ResultsByTime": [{"TimePeriod": {"Start": "2026-03-12"}, "Groups": [
          {"Keys": ["AWS Lambda"], "Metrics": {"UnblendedCost": {"Amount": "0.0125"}}},
          {"Keys": ["Amazon SQS"], "Metrics": {"UnblendedCost": {"Amount": "0.1"}}}]}]}""");

    assertThat(prove(Optional.empty(), "--bill")).isZero();

    assertThat(printed)
        .contains(
            "All of the account in eu-central-1 on these days: $0.1125. The steps said: at most $0.02.");
  }

  @Test
  void the_cdk_gets_the_context_and_its_log_is_in_the_failure() throws IOException {
    Path script = home.resolve("cdk");
    Files.writeString(script, "echo \"$AWS_REGION $AWS_ACCESS_KEY_ID $*\"; test $1 = deploy");
    CdkStacks stacks =
        new CdkStacks(
            account,
            shell(Optional.empty()),
            home,
            home.resolve("run"),
            List.of("sh", script.toString()));

    stacks.deploy(
        "Tollgate-prove", "run-1", Map.of("prefix", "prove_"), home.resolve("outputs.json"));

    assertThat(home.resolve("run/Tollgate-prove/deploy.log"))
        .content()
        .startsWith(
            "eu-central-1 key deploy --all --require-approval never --tags tollgate-prove=run-1"
                + " --outputs-file")
        .endsWith("-c prefix=prove_\n");
    try {
      stacks.destroy("Tollgate-prove", "run-1", Map.of());
      throw new AssertionError("no failure");
    } catch (Failure failed) {
      assertThat(failed.getMessage())
          .contains("cdk destroy of Tollgate-prove failed with exit code 1")
          .contains("destroy --all --force");
    }
  }
}
