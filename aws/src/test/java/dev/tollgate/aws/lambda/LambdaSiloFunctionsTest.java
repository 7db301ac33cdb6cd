package dev.tollgate.aws.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.ScriptedAws.Request;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.SiloFunctionsContract;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Silos' functions over what Lambda is known to answer. */
class LambdaSiloFunctionsTest extends SiloFunctionsContract {
  private static final Release FIRST = new Release(ScriptedAws.PROCESSOR_ARN);
  private static final Release SECOND =
      new Release(ScriptedAws.PROCESSOR_ARN.replaceFirst("7$", "8"));

  private final ScriptedAws services = new ScriptedAws();
  private final ScriptedLambda lambda = new ScriptedLambda(services);
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final TenantId tenant = Samples.tenantId();
  private final String path = ScriptedLambda.FUNCTIONS + "/" + ScriptedLambda.name(tenant);
  private SiloFunctions functions =
      new AwsEnvironment(services.environment(), clock).siloFunctions();

  LambdaSiloFunctionsTest() {
    lambda.expect(tenant);
    lambda.publish(FIRST, "0123.jar", "sha-1");
    lambda.publish(SECOND, "4567.jar", "sha-2");
  }

  @AfterEach
  void stop() {
    services.close();
  }

  @Override
  protected SiloFunctions functions() {
    return functions;
  }

  @Override
  protected Release first() {
    return FIRST;
  }

  /** Also what a control plane that was deployed with it knows. */
  @Override
  protected Release second() {
    Map<String, String> environment = services.environment();
    environment.put("PROCESSOR_FUNCTION_ARN", SECOND.value());
    environment.put("PROCESSOR_CODE_KEY", "4567.jar");
    functions = new AwsEnvironment(environment, clock).siloFunctions();
    return SECOND;
  }

  @Override
  protected TenantId tenant() {
    return tenant;
  }

  @Override
  protected Optional<Release> release(TenantId of) {
    return lambda.release(of);
  }

  @Override
  protected boolean isFed(TenantId of) {
    return lambda.isFed(of);
  }

  private void make() {
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.DONE);
  }

  private void makeAndAttach() {
    make();
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.DONE);
  }

  @Test
  void a_function_is_configured_as_the_pools_processor_is() {
    make();

    assertThat(services.requests("POST " + ScriptedLambda.FUNCTIONS))
        .singleElement()
        .extracting(Request::body)
        .asString()
        .contains(
            "\"FunctionName\":\"blue_silo_%s\"".formatted(tenant),
            "\"Description\":\"" + FIRST + "\"",
            "\"Code\":{\"S3Bucket\":\"Assets\",\"S3Key\":\"0123.jar\"}",
            "\"Architectures\":[\"arm64\"]",
            "\"Handler\":\"dev.tollgate.handlers.message.MessageProcessor\"",
            "\"Runtime\":\"java25\"",
            "\"Role\":\"arn:aws:iam::000000000000:role/Processor\"",
            "\"MemorySize\":1024",
            "\"Timeout\":15",
            "\"Environment\":{\"Variables\":{\"MESSAGE_HANDLER\":\"com.example.Handler\"}}",
            "\"Layers\":[\"arn:aws:lambda:eu-central-1:000000000000:layer:l:1\"]",
            "\"LoggingConfig\":{\"LogFormat\":\"JSON\",\"LogGroup\":\"processor-log\"}");
  }

  @Test
  void a_function_that_is_of_the_release_is_only_looked_at() {
    make();
    int before = services.operations().size();

    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.DONE);

    List<String> operations = services.operations();
    assertThat(operations.subList(before, operations.size())).containsExactly("GET " + path);
  }

  @Test
  void code_comes_before_the_configuration_that_names_the_release() {
    make();

    Release next = second();
    for (int look = 0; look < 3; look++) {
      assertThat(functions.ensure(tenant, next)).isEqualTo(Progress.IN_PROGRESS);
      assertThat(release(tenant)).contains(look < 2 ? FIRST : SECOND);
    }

    assertThat(services.requests("PUT " + path + "/code"))
        .singleElement()
        .extracting(Request::body)
        .asString()
        .contains("\"S3Key\":\"4567.jar\"", "\"Architectures\":[\"arm64\"]");
    assertThat(services.requests("PUT " + path + "/configuration"))
        .singleElement()
        .extracting(Request::body)
        .asString()
        .contains("\"Description\":\"" + SECOND + "\"", "\"Handler\":", "\"Layers\":");
  }

  @Test
  void code_that_is_not_the_releases_is_told_of() {
    make();

    assertThatThrownBy(() -> functions.ensure(tenant, SECOND))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("0123.jar is not the release's code");
  }

  @Test
  void a_function_that_another_made_or_is_changing_is_waited_for() {
    services.on(
        "POST " + ScriptedLambda.FUNCTIONS,
        request -> Answer.failure(409, "ResourceConflictException"));
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);

    services.on("GET " + path, request -> state("Active", "InProgress"));
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(services.requests("PUT " + path + "/code")).isEmpty();

    services.on("GET " + path, request -> state("Active", "Successful"));
    services.on(
        "PUT " + path + "/code", request -> Answer.failure(409, "ResourceConflictException"));
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);
  }

  private static Answer state(String state, String update) {
    return Answer.ok(
        """
        {"Configuration":{"Description":"%s","CodeSha256":"sha-0","Architectures":["arm64"],
         "State":"%s","StateReason":"as the test says","LastUpdateStatus":"%s"}}"""
            .formatted(SECOND, state, update));
  }

  @Test
  void an_update_that_failed_is_made_again() {
    services.on(
        "GET " + path,
        request ->
            Answer.ok(
                """
                {"Configuration":{"Description":"%s","CodeSha256":"sha-1",
                 "Architectures":["arm64"],"State":"Active","LastUpdateStatus":"Failed"}}"""
                    .formatted(FIRST)));
    services.on("PUT " + path + "/configuration", request -> Answer.ok("{}"));

    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);

    assertThat(services.requests("PUT " + path + "/configuration")).hasSize(1);
  }

  @Test
  void a_function_that_failed_is_told_of() {
    services.on("GET " + path, request -> state("Failed", "Successful"));

    assertThatThrownBy(() -> functions.ensure(tenant, FIRST))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("as the test says");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TooManyRequestsException", "ServiceException"})
  void what_lambda_cannot_do_now_is_unavailable(String type) {
    services.on("GET " + path, request -> Answer.failure(429, type));

    assertThatThrownBy(() -> functions.ensure(tenant, FIRST))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("Lambda GetFunction of blue_silo_" + tenant);
  }

  @Test
  void a_function_is_fed_in_batches_whose_items_fail_each_by_itself() {
    makeAndAttach();

    assertThat(services.requests("POST " + ScriptedLambda.MAPPINGS))
        .singleElement()
        .extracting(Request::body)
        .asString()
        .contains(
            "\"EventSourceArn\":\"arn:aws:sqs:eu-central-1:000000000000:blue_silo_%s.fifo\""
                .formatted(tenant),
            "\"FunctionName\":\"blue_silo_%s\"".formatted(tenant),
            "\"BatchSize\":10",
            "\"FunctionResponseTypes\":[\"ReportBatchItemFailures\"]",
            "\"Enabled\":true")
        .doesNotContain("MaximumConcurrency", "ScalingConfig");
  }

  @Test
  void a_mapping_that_another_made_meanwhile_is_waited_for() {
    make();
    services.on(
        "POST " + ScriptedLambda.MAPPINGS,
        request -> Answer.failure(409, "ResourceConflictException"));

    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  @Test
  void a_mapping_that_was_disabled_is_enabled() {
    makeAndAttach();
    lambda.state(tenant, "Disabled");

    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.DONE);

    assertThat(services.requests("PUT " + ScriptedLambda.MAPPINGS + "/blue_silo_" + tenant))
        .singleElement()
        .extracting(Request::body)
        .asString()
        .contains("\"Enabled\":true");
  }

  @Test
  void a_mapping_that_is_being_deleted_is_waited_for_and_made_anew() {
    makeAndAttach();
    lambda.state(tenant, "Deleting");

    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);

    assertThat(services.requests("POST " + ScriptedLambda.MAPPINGS)).hasSize(2);
  }

  @Test
  void a_mapping_that_is_changing_is_deleted_later() {
    makeAndAttach();
    lambda.state(tenant, "Creating");

    assertThat(functions.detach(tenant)).isEqualTo(Progress.DONE);

    services.on(
        "DELETE " + ScriptedLambda.MAPPINGS + "/blue_silo_" + tenant,
        request -> Answer.failure(400, "ResourceInUseException"));
    lambda.state(tenant, "Updating");
    assertThat(functions.detach(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  @Test
  void a_function_that_is_changing_is_deleted_later() {
    services.on("DELETE " + path, request -> Answer.failure(409, "ResourceConflictException"));

    assertThat(functions.delete(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  @Test
  void all_is_asked_for_in_the_tenants_name_but_the_version_and_the_list() {
    makeAndAttach();
    functions.detach(tenant);
    functions.delete(tenant);

    for (String operation : services.operations()) {
      boolean own =
          operation.equals("AssumeRole")
              || operation.equals("GET " + ScriptedLambda.MAPPINGS)
              || operation.equals("GET " + ScriptedLambda.FUNCTIONS + "/" + FIRST);
      assertThat(services.requests(operation))
          .extracting(Request::accessKey)
          .as(operation)
          .containsOnly(own ? "own" : tenant.value());
    }
  }
}
