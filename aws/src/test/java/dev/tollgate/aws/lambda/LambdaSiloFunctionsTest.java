package dev.tollgate.aws.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.ScriptedAws.Request;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.FunctionQuotas;
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

/** The functions of silos, with a script that behaves like Lambda. */
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
      new AwsEnvironment(services.environment(), clock, line -> {}).siloFunctions();

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

  /** The second release, as a control plane of that release knows it. */
  @Override
  protected Release second() {
    Map<String, String> environment = services.environment();
    environment.put("PROCESSOR_FUNCTION_ARN", SECOND.value());
    environment.put("PROCESSOR_CODE_KEY", "4567.jar");
    functions = new AwsEnvironment(environment, clock, line -> {}).siloFunctions();
    return SECOND;
  }

  @Override
  protected void allow(FunctionQuotas account) {
    lambda.allow(account);
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
  protected boolean isAttached(TenantId of) {
    return lambda.isAttached(of);
  }

  private void create() {
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.DONE);
  }

  private void createAndAttach() {
    create();
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.DONE);
  }

  @Test
  void a_function_has_the_configuration_of_the_pools_processor() {
    create();

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
            "\"LoggingConfig\":{\"LogFormat\":\"JSON\",\"LogGroup\":\"processor-log\"}",
            "\"TracingConfig\":{\"Mode\":\"Active\"}");
  }

  @Test
  void a_function_of_the_current_release_is_not_changed() {
    create();
    int before = services.operations().size();

    assertThat(functions.ensure(tenant, FIRST)).isEqualTo(Progress.DONE);

    List<String> operations = services.operations();
    assertThat(operations.subList(before, operations.size())).containsExactly("GET " + path);
  }

  @Test
  void the_code_is_updated_before_the_configuration_that_names_the_release() {
    create();

    Release next = second();
    for (int attempt = 0; attempt < 3; attempt++) {
      assertThat(functions.ensure(tenant, next)).isEqualTo(Progress.IN_PROGRESS);
      assertThat(release(tenant)).contains(attempt < 2 ? FIRST : SECOND);
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
  void variables_of_a_release_are_added_before_its_code_runs() {
    create();
    lambda.publish(
        SECOND, "4567.jar", "sha-2", "{\"MESSAGE_HANDLER\":\"com.example.Other\",\"NEW\":\"1\"}");
    Release next = second();
    int before = services.operations().size();
    while (functions.ensure(tenant, next) != Progress.DONE) {}

    List<String> operations = services.operations();
    assertThat(operations.subList(before, operations.size()))
        .filteredOn(operation -> operation.startsWith("PUT"))
        .containsExactly(
            "PUT " + path + "/configuration",
            "PUT " + path + "/code",
            "PUT " + path + "/configuration");
    assertThat(services.requests("PUT " + path + "/configuration").get(0).body())
        .contains("\"NEW\":\"1\"", "\"MESSAGE_HANDLER\":\"com.example.Handler\"")
        .doesNotContain("Description");
    assertThat(services.requests("PUT " + path + "/configuration").get(1).body())
        .contains("\"MESSAGE_HANDLER\":\"com.example.Other\"");
  }

  @Test
  void code_of_another_release_is_an_error() {
    create();

    assertThatThrownBy(() -> functions.ensure(tenant, SECOND))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("0123.jar is not the release's code");
  }

  @Test
  void a_concurrently_created_or_changed_function_is_waited_for() {
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
         "State":"%s","StateReason":"scripted reason","LastUpdateStatus":"%s",
         "Environment":{"Variables":{"MESSAGE_HANDLER":"com.example.Handler"}}}}"""
            .formatted(SECOND, state, update));
  }

  @Test
  void a_failed_update_is_repeated() {
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
  void a_failed_function_is_an_error() {
    services.on("GET " + path, request -> state("Failed", "Successful"));

    assertThatThrownBy(() -> functions.ensure(tenant, FIRST))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("scripted reason");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TooManyRequestsException", "ServiceException"})
  void a_throttled_or_failed_request_is_unavailable(String type) {
    services.on("GET " + path, request -> Answer.failure(429, type));

    assertThatThrownBy(() -> functions.ensure(tenant, FIRST))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("Lambda GetFunction of blue_silo_" + tenant);
  }

  @Test
  void a_mapping_has_batches_of_ten_with_reported_item_failures() {
    createAndAttach();

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
  void a_concurrently_created_mapping_is_waited_for() {
    create();
    services.on(
        "POST " + ScriptedLambda.MAPPINGS,
        request -> Answer.failure(409, "ResourceConflictException"));

    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  @Test
  void a_disabled_mapping_is_enabled() {
    createAndAttach();
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
  void a_mapping_in_deletion_is_waited_for_and_created_again() {
    createAndAttach();
    lambda.state(tenant, "Deleting");

    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);
    assertThat(functions.attach(tenant)).isEqualTo(Progress.IN_PROGRESS);

    assertThat(services.requests("POST " + ScriptedLambda.MAPPINGS)).hasSize(2);
  }

  @Test
  void a_changing_mapping_is_deleted_later() {
    createAndAttach();
    lambda.state(tenant, "Creating");

    assertThat(functions.detach(tenant)).isEqualTo(Progress.DONE);

    services.on(
        "DELETE " + ScriptedLambda.MAPPINGS + "/blue_silo_" + tenant,
        request -> Answer.failure(400, "ResourceInUseException"));
    lambda.state(tenant, "Updating");
    assertThat(functions.detach(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  @Test
  void a_changing_function_is_deleted_later() {
    services.on("DELETE " + path, request -> Answer.failure(409, "ResourceConflictException"));

    assertThat(functions.delete(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  @Test
  void requests_use_the_tenants_credentials_except_for_the_version_and_the_list() {
    createAndAttach();
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
