package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.testing.Samples;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The requests for messages: the log, the facts and the extension of sessions. */
class DynamoDbMessageLogResponsesTest extends ScriptedAdapters {
  @Test
  void unprocessed_rows_of_the_log_are_written_again_and_then_given_up() {
    MessageName one = new MessageName(Samples.sessionId(), "m-1");
    AtomicInteger left = new AtomicInteger(1);
    services.on(
        "BatchWriteItem",
        request ->
            Answer.ok(
                left.getAndDecrement() > 0
                    ? "{\"UnprocessedItems\":" + json(request.body()).path("RequestItems") + "}"
                    : "{\"UnprocessedItems\":{}}"));

    aws.messageLog().add(tenant, Set.of(one), clock.instant());
    assertThat(services.requests("BatchWriteItem")).hasSize(2);

    left.set(2);
    assertThatThrownBy(() -> aws.messageLog().add(tenant, Set.of(one), clock.instant()))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("rows stayed unprocessed");
  }

  @Test
  void message_facts_are_read_and_extended_with_the_tenants_credentials() {
    List<SessionId> sessions = IntStream.range(0, 10).mapToObj(i -> Samples.sessionId()).toList();

    MessageName name = new MessageName(sessions.get(0), "m-1");
    aws.messageFactsReader().read(tenant, Set.copyOf(sessions), Set.of(name));
    Session read =
        new Session(tenant, sessions.get(0), Set.of(), clock.instant(), Optional.empty());
    aws.sessions().extend(read, clock.instant(), Map.of(), clock.instant());
    aws.messageLog().add(tenant, Set.of(name), clock.instant());

    assertThat(services.operations())
        .containsExactly("AssumeRole", "BatchGetItem", "UpdateItem", "BatchWriteItem");
    assertThat(services.requests("BatchWriteItem").get(0).body())
        .contains("LimitTable", "message:" + name.session() + ":m-1");
    assertThat(services.requests("BatchGetItem").get(0).body())
        .contains("\"ConsistentRead\":true", "TenantTable", "bucket:message")
        .contains(sessions.stream().map(SessionId::value).toList())
        .doesNotContain("bucket:connect");
    assertThat(
            List.of(
                services.requests("BatchGetItem").get(0),
                services.requests("UpdateItem").get(0),
                services.requests("BatchWriteItem").get(0)))
        .allSatisfy(
            request -> {
              assertThat(request.accessKey()).isEqualTo(tenant.value());
              assertThat(request.token()).contains("token of " + tenant);
            });
  }
}
