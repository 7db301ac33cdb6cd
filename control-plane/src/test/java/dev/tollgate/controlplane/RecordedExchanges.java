package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.testing.memory.InMemorySiloQueues.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * A tenant that goes on sending messages to its silo for as long as it takes any, and the function
 * that processes them if there is one.
 */
final class RecordedExchanges {
  private static final String GROUP = "acme:session";

  private final ControlPlaneFixture at;
  private final TenantId tenant;
  private final List<String> sent = new ArrayList<>();
  private final List<String> processed = new ArrayList<>();
  private int messages;

  RecordedExchanges(ControlPlaneFixture at, TenantId tenant) {
    this.at = at;
    this.tenant = tenant;
  }

  /** Sends a message, which may be refused. */
  void send() {
    String body = "message-" + ++messages;
    if (at.siloQueues.send(tenant, GROUP, body)) {
      sent.add(body);
    }
  }

  /** Has a message end among the dead letters. */
  void bury() {
    String body = "letter-" + ++messages;
    at.siloQueues.bury(tenant, GROUP, body);
    sent.add(body);
  }

  /** The function comes to the end of what it was at, and takes what waits. */
  void process() {
    at.siloQueues.settle(tenant);
    if (at.siloFunctions.fed().contains(tenant)
        && at.siloFunctions.functions().containsKey(tenant)) {
      at.siloQueues.receive(tenant).forEach(message -> processed.add(message.body()));
    }
  }

  /** Whether any message was taken. */
  boolean isEmpty() {
    return sent.isEmpty();
  }

  /** Asserts that what was taken was processed, or is among the pool's dead letters, or waits. */
  void assertNothingIsLost() {
    List<String> found = new ArrayList<>(processed);
    at.siloQueues.poolDeadLetters().stream().map(Message::body).forEach(found::add);
    at.siloQueues.contents(tenant).stream().map(Message::body).forEach(found::add);
    assertThat(found).containsAll(sent);
    assertThat(at.siloQueues.deleted()).isEmpty();
  }
}
