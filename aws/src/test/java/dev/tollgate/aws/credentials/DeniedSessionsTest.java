package dev.tollgate.aws.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.TokenQueue.Search;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that AWS denies because their credentials were revoked. */
class DeniedSessionsTest extends ScriptedAdapters {
  private final AtomicInteger issued = new AtomicInteger();
  private final Set<String> revoked = ConcurrentHashMap.newKeySet();

  /** Session tokens are numbered; requests with a revoked one get this error. */
  private void revokeFirst(String operation, String error) {
    services.on(
        "AssumeRole",
        request -> {
          Answer answer = ScriptedAws.credentials(request);
          return Answer.ok(answer.body().replace("<SessionToken>", token()));
        });
    services.on(
        operation,
        request ->
            revoked.contains(request.token().orElse("").replaceFirst("-.*", ""))
                ? Answer.failure(400, error)
                : Answer.ok("{}"));
    request(operation);
    revoked.add("n1");
  }

  private String token() {
    return "<SessionToken>n" + issued.incrementAndGet() + "-";
  }

  @ParameterizedTest
  @CsvSource({
    "GetItem, AccessDeniedException",
    "GetItem, ExpiredTokenException",
    "GetItem, UnrecognizedClientException",
    "UpdateItem, AccessDeniedException",
    "ReceiveMessage, AccessDenied",
    "ReceiveMessage, ExpiredToken",
    "ReceiveMessage, InvalidClientTokenId"
  })
  void the_second_request_has_fresh_credentials(String operation, String error) {
    revokeFirst(operation, error);
    services.clear();

    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);
    assertThat(services.requests("AssumeRole")).isEmpty();

    request(operation);
    request(operation);
    assertThat(services.requests("AssumeRole")).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"GetItem, ThrottlingException", "ReceiveMessage, InternalFailure"})
  void other_errors_say_nothing_about_the_credentials(String operation, String error) {
    revokeFirst(operation, error);
    services.clear();

    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);
    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);
    assertThat(services.requests("AssumeRole")).isEmpty();
  }

  @Test
  void what_the_tenant_role_may_never_do_costs_one_request_to_sts() {
    revokeFirst("GetItem", "AccessDeniedException");
    revoked.add("n2");
    services.clear();

    for (int i = 0; i < 20; i++) {
      assertThatThrownBy(() -> request("GetItem")).isInstanceOf(Unavailable.class);
    }
    assertThat(services.requests("AssumeRole")).hasSize(1);
  }

  private void request(String operation) {
    switch (operation) {
      case "GetItem" -> aws.connections().count(tenant);
      case "UpdateItem" -> aws.connections().countUp(tenant, "c", 1);
      default -> aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG);
    }
  }
}
