package dev.tollgate.local.bus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventBusTest {
  private static final String ENTRY =
      "{\"Source\":\"s\",\"DetailType\":\"t\",\"Detail\":\"{\\\"n\\\":1}\"}";

  private final List<String> lines = new ArrayList<>();
  private final EventBus bus = new EventBus(lines::add);

  @Test
  void an_event_is_kept_and_logged() {
    ObjectNode answer = bus.put("{\"Entries\":[" + ENTRY + "]}");

    assertThat(answer.path("FailedEntryCount").asInt()).isZero();
    assertThat(bus.events())
        .containsExactly(
            new EventBus.Event(answer.at("/Entries/0/EventId").asText(), "s", "t", "{\"n\":1}"));
    assertThat(lines).containsExactly("event of s: t {\"n\":1}");
  }

  @Test
  void an_entry_that_is_not_valid_fails_alone() {
    ObjectNode answer =
        bus.put(
            "{\"Entries\":[{\"Source\":\"s\",\"DetailType\":\"t\",\"Detail\":\"x\"},"
                + ENTRY
                + ",{\"DetailType\":\"t\",\"Detail\":\"{}\"}]}");

    assertThat(answer.path("FailedEntryCount").asInt()).isEqualTo(2);
    assertThat(answer.at("/Entries/0/ErrorCode").asText()).isEqualTo("MalformedDetail");
    assertThat(answer.at("/Entries/1/EventId").asText()).isNotEmpty();
    assertThat(answer.at("/Entries/2/ErrorCode").asText()).isEqualTo("InvalidArgument");
    assertThat(bus.events()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"Entries\":[]}", "{\"Entries\":[1,2,3,4,5,6,7,8,9,10,11]}"})
  void one_to_ten_entries_are_taken(String request) {
    assertThatThrownBy(() -> bus.put(request)).isInstanceOf(ApiException.class);
  }

  @Test
  void there_is_one_bus() {
    assertThatThrownBy(
            () ->
                bus.put(
                    "{\"Entries\":[" + ENTRY.replace("}\"}", "}\",\"EventBusName\":\"x\"}") + "]}"))
        .isInstanceOf(ApiException.class);
  }
}
