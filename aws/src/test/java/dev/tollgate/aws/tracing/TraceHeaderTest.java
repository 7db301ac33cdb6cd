package dev.tollgate.aws.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceHeaderTest {
  private static final String ROOT = "1-5759e988-bd862e3fe1be46a994272793";
  private static final String PARENT = "53995c3f42cd8ad8";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        "Sampled=1; Parent=53995c3f42cd8ad8; Root=1-5759e988-bd862e3fe1be46a994272793",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a87bd80c:1|68fd508a:5",
        "Self=1-67891234-12456789abcdef012345678;Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
      })
  void a_sampled_header_is_read_and_written(String text) {
    TraceHeader header = TraceHeader.sampled(text).orElseThrow();

    assertThat(header).isEqualTo(new TraceHeader(ROOT, PARENT));
    assertThat(header.text()).isEqualTo("Root=" + ROOT + ";Parent=" + PARENT + ";Sampled=1");
    assertThat(TraceHeader.sampled(header.text())).contains(header);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ";",
        "=",
        "Root",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=?",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1",
        "Parent=53995c3f42cd8ad8;Sampled=1",
        "Root=2-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        "Root=1-5759e98-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        "Root=1-5759E988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        "Root=1-5759e988-bd862e3fe1be46a994272793\";Parent=53995c3f42cd8ad8;Sampled=1",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad;Sampled=1",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8adg;Sampled=1"
      })
  void a_header_that_is_malformed_or_not_sampled_is_none(String text) {
    assertThat(TraceHeader.sampled(text)).isEmpty();
  }

  @Test
  void a_long_text_is_not_parsed() {
    String header = "Root=" + ROOT + ";Parent=" + PARENT + ";Sampled=1;Lineage=";

    assertThat(TraceHeader.sampled(header + "a".repeat(100))).isPresent();
    assertThat(TraceHeader.sampled(header + "a".repeat(1_000))).isEmpty();
  }

  @Test
  void ids_are_checked() {
    assertThatThrownBy(() -> new TraceHeader("1-2-3", PARENT)).hasMessageContaining("root: ");
    assertThatThrownBy(() -> new TraceHeader(ROOT, "12")).hasMessageContaining("parent: ");
  }
}
