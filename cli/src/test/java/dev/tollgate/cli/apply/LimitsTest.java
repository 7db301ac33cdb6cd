package dev.tollgate.cli.apply;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LimitsTest {
  @Test
  void names_and_ranges_are_those_of_the_contract() {
    Path contract = Path.of("..", "docs", "openapi", "control-plane.yaml");
    JsonNode limits =
        YamlFile.read(contract, "contract")
            .document()
            .at("/components/schemas/LimitMembers/properties");

    List<String> names = new ArrayList<>();
    for (Map.Entry<String, JsonNode> limit : limits.properties()) {
      names.add(limit.getKey());
      assertThat(limit.getValue().path("minimum").asLong()).isEqualTo(1);
      assertThat(Limits.max(limit.getKey()))
          .as(limit.getKey())
          .isEqualTo(limit.getValue().path("maximum").asLong());
    }
    assertThat(names).containsExactlyElementsOf(Limits.NAMES);
  }
}
