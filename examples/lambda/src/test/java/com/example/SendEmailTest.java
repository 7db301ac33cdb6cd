package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.client.InMemoryTollgate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The buckets are in memory, and the test moves their clock. */
class SendEmailTest {
  private static final Map<String, String> EVENT =
      Map.of("tenantId", "initech", "to", "ann@example.com");

  private final InMemoryTollgate tollgate =
      new InMemoryTollgate().put("initech", "send-email", 0.2, 2);
  private final List<String> sent = new ArrayList<>();
  private final SendEmail function = new SendEmail(tollgate, sent::add);

  @Test
  void emails_are_sent_until_the_bucket_is_empty() {
    function.handleRequest(EVENT, null);
    function.handleRequest(EVENT, null);

    Map<String, String> third = function.handleRequest(EVENT, null);

    assertEquals("refused", third.get("status"));
    assertEquals(List.of("ann@example.com", "ann@example.com"), sent);
  }

  @Test
  void refused_email_is_sent_at_its_retry_time() {
    function.handleRequest(EVENT, null);
    function.handleRequest(EVENT, null);
    Map<String, String> refused = function.handleRequest(EVENT, null);

    tollgate.advance(Duration.between(tollgate.now(), Instant.parse(refused.get("retryAt"))));

    assertEquals(Map.of("status", "sent"), function.handleRequest(EVENT, null));
  }

  @Test
  void no_email_is_sent_while_the_queue_fails() {
    tollgate.setAvailable(false);

    assertThrows(IllegalStateException.class, () -> function.handleRequest(EVENT, null));
    assertEquals(List.of(), sent);
  }
}
