package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageLimitTest {
  private static final Optional<String> ID = Optional.of("m-1");

  private final InMemoryTollgate tollgate =
      new InMemoryTollgate(Instant.parse("2026-01-01T00:00:00Z"), new ClaimListener() {})
          .put("acme", "message", 20, 20)
          .put("globex", "message", 20, 20);
  private final MessageLimit limit = new MessageLimit(tollgate, "message", tollgate::now);

  @Test
  void messages_are_admitted_until_the_bucket_is_empty() {
    for (int i = 0; i < 20; i++) {
      assertThat(limit.refuse("acme", ID)).isEmpty();
    }

    assertThat(limit.refuse("acme", ID))
        .contains(
            "{\"type\":\"error\",\"id\":\"m-1\",\"code\":\"THROTTLED\",\"detail\":\"the tenant sent"
                + " as many messages as its limit allows\",\"retryAfterSeconds\":4}");
    assertThat(limit.refuse("globex", ID)).isEmpty();
  }

  @Test
  void message_is_admitted_after_the_seconds_of_its_frame() {
    drain();
    tollgate.advance(Duration.ofMillis(1_500));
    String refusal = limit.refuse("acme", ID).orElseThrow();
    Claim.Denied denied = (Claim.Denied) tollgate.bucket("acme", "message").tryClaim();
    Duration wait = Duration.between(tollgate.now(), denied.retryAt());
    assertThat(Duration.ofSeconds(seconds(refusal))).isBetween(wait, wait.plusMillis(999));

    tollgate.advance(Duration.ofSeconds(seconds(refusal)));

    assertThat(limit.refuse("acme", ID)).isEmpty();
  }

  @Test
  void frame_repeats_the_id_as_a_JSON_string_and_omits_a_missing_one() {
    drain();

    assertThat(limit.refuse("acme", Optional.of("a\"},\"\n\\")).orElseThrow())
        .contains("\"id\":\"a\\\"},\\\"\\u000a\\\\\",\"code\"");
    assertThat(limit.refuse("acme", Optional.empty()).orElseThrow())
        .startsWith("{\"type\":\"error\",\"code\":");
  }

  @Test
  void each_message_in_line_is_admitted_at_its_own_slot() {
    drain();
    List<String> refusals = new ArrayList<>();
    Set<Long> slots = new HashSet<>();
    for (int i = 0; i < 10; i++) {
      String refusal = inLine(Optional.empty()).orElseThrow();
      refusals.add(refusal);
      slots.add(seconds(refusal));
    }
    assertThat(slots).hasSize(10);

    long waited = 0;
    for (String refusal : refusals) {
      tollgate.advance(Duration.ofSeconds(seconds(refusal) - waited));
      waited = seconds(refusal);
      assertThat(inLine(Optional.of(place(refusal)))).as(refusal).isEmpty();
    }
  }

  @Test
  void message_that_comes_before_its_slot_keeps_its_place() {
    drain();
    inLine(Optional.empty());
    String refusal = inLine(Optional.empty()).orElseThrow();

    assertThat(inLine(Optional.of(place(refusal)))).contains(refusal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "nonsense", "globex/message/0/1", "acme/connect/0/1"})
  void place_that_is_malformed_or_of_another_bucket_counts_as_none(String place) {
    drain();
    String first = inLine(Optional.empty()).orElseThrow();

    String second = inLine(Optional.of(place)).orElseThrow();

    assertThat(place(second)).startsWith("acme/message/").isNotEqualTo(place(first));
  }

  @Test
  void frame_has_no_place_if_the_line_is_switched_off() {
    tollgate.retune(ClaimsClient.id("acme", "message"), spec -> spec.withLine(false));
    drain();

    assertThat(inLine(Optional.empty()).orElseThrow()).endsWith("\"retryAfterSeconds\":4}");
  }

  @Test
  void application_chooses_what_happens_to_messages_while_the_queue_fails() {
    tollgate.setAvailable(false);

    assertThat(limit.refuse("acme", ID))
        .contains(
            "{\"type\":\"error\",\"id\":\"m-1\",\"code\":\"UNAVAILABLE\",\"detail\":\"the limit"
                + " cannot be checked; try again\"}");
    assertThat(inLine(Optional.empty()).orElseThrow()).contains("UNAVAILABLE");
    assertThat(limit.admitUndecided().refuse("acme", ID)).isEmpty();
  }

  @Test
  void a_limit_that_admits_undecided_messages_still_refuses_denied_ones() {
    drain();

    assertThat(limit.admitUndecided().refuse("acme", ID).orElseThrow()).contains("THROTTLED");
  }

  @Test
  void unknown_tenant_fails() {
    assertThatExceptionOfType(UnknownBucket.class).isThrownBy(() -> limit.refuse("nosuch", ID));
  }

  private void drain() {
    tollgate.bucket("acme", "message").tryClaim(20);
  }

  private Optional<String> inLine(Optional<String> place) {
    return limit.refuseInLine("acme", ID, place);
  }

  private static long seconds(String frame) {
    return Long.parseLong(found(frame, "\"retryAfterSeconds\":([0-9]+)"));
  }

  private static String place(String frame) {
    return found(frame, "\"place\":\"([^\"]*)\"");
  }

  private static String found(String frame, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(frame);
    assertThat(matcher.find()).as(frame).isTrue();
    return matcher.group(1);
  }
}
