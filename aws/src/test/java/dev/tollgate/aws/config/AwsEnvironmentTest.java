package dev.tollgate.aws.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.session.Sessions.Consistency;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** How the environment makes the adapters: which variables and whose credentials each one uses. */
class AwsEnvironmentTest extends ScriptedAdapters {
  @Test
  void a_missing_variable_fails_only_the_ports_that_need_it() {
    Map<String, String> environment = services.environment();
    environment.remove("TIER_TABLE");
    environment.remove("WEBSOCKET_URL");
    environment.put("TENANT_ROLE_ARN", "");
    AwsEnvironment partial = new AwsEnvironment(environment, clock, line -> {});

    assertThatCode(partial::tenants).doesNotThrowAnyException();
    assertMissing("TIER_TABLE", partial, AwsEnvironment::tiers);
    assertMissing("WEBSOCKET_URL", partial, AwsEnvironment::sockets);
    assertMissing("TENANT_ROLE_ARN", partial, AwsEnvironment::buckets);
    assertMissing(
        "AWS_REGION", new AwsEnvironment(Map.of(), clock, line -> {}), AwsEnvironment::tenants);
  }

  private static void assertMissing(
      String name, AwsEnvironment environment, Consumer<AwsEnvironment> getter) {
    assertThatThrownBy(() -> getter.accept(environment))
        .isInstanceOf(MissingVariable.class)
        .hasMessageContaining(name);
  }

  @Test
  void all_clients_share_one_thread_for_timeouts() {
    services.on("GetQueueAttributes", request -> Answer.ok("{\"Attributes\":{}}"));
    Set<Thread> before = Thread.getAllStackTraces().keySet();

    aws.connections().countDown(tenant, Set.of("c"));
    aws.tokenQueue().level(bucket);
    aws.bucketQueues().delete(bucket);
    aws.fillSchedules().delete(bucket);

    assertThat(Thread.getAllStackTraces().keySet())
        .filteredOn(thread -> !before.contains(thread))
        .extracting(Thread::getName)
        .containsOnlyOnce("aws-timeouts")
        .noneMatch(name -> name.startsWith("sdk-"));
  }

  @Test
  void a_tenants_rows_and_queues_are_accessed_with_its_credentials() {
    services.on("GetQueueAttributes", request -> Answer.ok("{\"Attributes\":{}}"));

    aws.buckets().list(tenant);
    aws.sessions().page(tenant, Optional.empty(), 10, Consistency.CONSISTENT);
    aws.connections().countDown(tenant, Set.of("c"));
    aws.tokenQueue().level(bucket);
    aws.bucketQueues().delete(bucket);
    aws.fillSchedules().delete(bucket);
    aws.silos().find(tenant);
    aws.siloQueues().delete(tenant);

    assertThat(services.requests("AssumeRole"))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"));
    assertThat(services.operations()).hasSize(10);
    assertThat(services.operations().stream().filter(name -> !name.equals("AssumeRole")))
        .allSatisfy(
            name ->
                assertThat(services.requests(name))
                    .allSatisfy(
                        request -> {
                          assertThat(request.accessKey()).isEqualTo(tenant.value());
                          assertThat(request.token()).contains("token of " + tenant);
                        }));
  }

  @Test
  void tenants_and_tiers_are_read_with_the_functions_own_credentials() {
    aws.tenants().find(tenant);
    aws.tiers().list();
    aws.factsReader().tenantExists(tenant);

    assertThat(services.operations()).containsExactly("GetItem", "Scan", "GetItem");
    assertThat(services.requests("GetItem"))
        .allSatisfy(request -> assertThat(request.accessKey()).isEqualTo("own"));
  }

  @Test
  void a_tenant_without_credentials_gets_no_request() {
    services.on("AssumeRole", request -> Answer.failure(403, "AccessDenied"));

    assertThatThrownBy(() -> aws.buckets().list(tenant))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("AssumeRole");
    assertThat(services.operations()).containsOnly("AssumeRole");
  }

  @Test
  void schedules_and_queues_of_this_deployment_are_listed_with_the_functions_own_role() {
    services.on(
        "GET /schedules",
        request ->
            Answer.ok(
                """
                {"NextToken":"more","Schedules":[{"Name":"blue_connect_acme"},{"Name":"blue_sweep"},
                 {"Name":"connect_acme"},{"Name":"blue_con_nect_acme"},{"Name":"shard-7"}]}"""));
    services.on(
        "ListQueues",
        request ->
            Answer.ok(
                """
                {"NextToken":"more","QueueUrls":["https://sqs/1/blue_connect_acme_token_bucket",
                 "https://sqs/1/blue_silo_acme.fifo","https://sqs/1/blue_Connect_acme_token_bucket",
                 "https://sqs/1/blue_x_connect_acme_token_bucket","https://sqs/1/blue_tollgate_pool.fifo"]}"""));
    Page<BucketId> acme =
        new Page<>(
            List.of(new BucketId(new TenantId("acme"), Action.CONNECT)), Optional.of("more"));

    assertThat(aws.fillSchedules().list(Optional.empty(), 5)).isEqualTo(acme);
    assertThat(aws.bucketQueues().list(Optional.of("here"), 5)).isEqualTo(acme);

    assertThat(services.requests("ListQueues"))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"))
        .satisfies(
            request ->
                assertThat(request.body())
                    .contains(
                        "\"QueueNamePrefix\":\"blue_\"",
                        "\"MaxResults\":5",
                        "\"NextToken\":\"here\""));
    assertThat(services.requests("GET /schedules"))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"));
  }
}
