package dev.tollgate.cli.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.net.http.HttpHeaders;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CurrentStateTest {
  private final AtomicInteger pages = new AtomicInteger();

  @Test
  void list_of_large_pages_fails_before_it_fills_the_memory() {
    String padding = "x".repeat(8 << 20);
    Sender endless =
        (method, path, body, headers) ->
            new Response(
                200,
                HttpHeaders.of(Map.of(), (name, value) -> true),
                "{\"tenants\": [], \"padding\": \"%s\", \"next\": \"%d\"}"
                    .formatted(padding, pages.incrementAndGet()));

    assertThatThrownBy(() -> CurrentState.tenants(endless))
        .isInstanceOf(Failure.class)
        .hasMessage(
            "The server's list of tenants is longer than 64 MB. Check the URL of the deployment.");
    assertThat(pages).hasValue(8);
  }
}
