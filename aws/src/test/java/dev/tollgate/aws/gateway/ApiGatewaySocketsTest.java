package dev.tollgate.aws.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.session.Sockets;
import java.net.URI;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ApiGatewaySocketsTest {
  private final ScriptedAws aws = new ScriptedAws();
  private final Sockets sockets = sockets();

  private Sockets sockets() {
    Map<String, String> environment = new HashMap<>(aws.environment());
    environment.put("WEBSOCKET_URL", URI.create(aws.endpoint()) + "/production");
    return new AwsEnvironment(environment, InstantSource.system()).sockets();
  }

  @AfterEach
  void close() {
    aws.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a b", "%zz", "a?b", "a/b", "\u00e9", "a\nb", "\uD83D"})
  void a_malformed_connection_id_causes_no_request(String id) {
    sockets.close(id);

    assertThat(sockets.isOpen(id)).isFalse();
    assertThat(sockets.post(id, "{}")).isEqualTo(Sockets.PostResult.GONE);
    assertThat(aws.requests()).isEmpty();
  }

  @Test
  void a_well_formed_connection_id_causes_a_request() {
    sockets.close("L0SM9cOFvHcCIhw=");

    assertThat(aws.requests()).hasSize(1);
  }
}
