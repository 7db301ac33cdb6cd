package dev.tollgate.aws.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAws;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import org.crac.Core;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

final class PrimingTest {
  private final ScriptedAws services = new ScriptedAws();
  private FunctionClients clients =
      new FunctionClients(new Variables(services.environment()), Optional.empty());

  @AfterEach
  void stop() {
    services.close();
  }

  private void useAll() {
    clients.dynamoDb();
    clients.dynamoDbOnce();
    clients.sqs();
    clients.sqsOnce();
    clients.sqsBackground();
    clients.schedulerBackground();
    clients.lambdaBackground();
    clients.lambdaOnce();
    clients.newConnections(URI.create(services.endpoint()));
    clients.newPosts(URI.create(services.endpoint()));
    clients.newSts();
  }

  @Test
  void rehearsed_requests_get_a_valid_response_and_are_not_sent() {
    useAll();

    clients.priming().rehearse();

    assertThat(services.requests()).isEmpty();
  }

  @Test
  void the_only_request_that_is_sent_reads_the_identity_and_keeps_no_connection() {
    useAll();

    clients.priming().beforeCheckpoint(Core.getGlobalContext());

    assertThat(services.requests()).hasSize(1);
    assertThat(services.requests().get(0).operation()).isEqualTo("GetCallerIdentity");
    assertThat(services.requests().get(0).connection()).contains("close");
  }

  @Test
  void requests_are_sent_after_the_rehearsal() {
    useAll();
    clients.priming().beforeCheckpoint(Core.getGlobalContext());

    clients.dynamoDb().getItem(r -> r.tableName("T").key(Map.of("id", AttributeValue.fromS("x"))));

    assertThat(services.requests()).hasSize(2);
  }

  @Test
  void a_failure_of_a_service_does_not_fail_the_deployment() {
    useAll();
    services.close();

    clients.priming().beforeCheckpoint(Core.getGlobalContext());
  }

  /** Lambda references hooks weakly, and a function may keep nothing but its clients. */
  @Test
  void the_priming_lives_as_long_as_a_client() {
    useAll();
    WeakReference<Priming> priming = new WeakReference<>(clients.priming());
    DynamoDbClient client = clients.dynamoDb();

    clients = new FunctionClients(new Variables(Map.of()), Optional.empty());
    System.gc();

    assertThat(client.serviceName()).isEqualTo("dynamodb");
    assertThat(priming.get()).isNotNull();
  }
}
