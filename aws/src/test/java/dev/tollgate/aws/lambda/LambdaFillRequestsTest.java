package dev.tollgate.aws.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import org.junit.jupiter.api.Test;

/** How fills are requested from the token producer. */
class LambdaFillRequestsTest extends ScriptedAdapters {
  private static final String PRODUCER =
      "POST /2015-03-31/functions/arn:aws:lambda:eu-central-1:000000000000:function:f:l/invocations";

  @Test
  void a_synchronous_fill_invokes_the_token_producer() {
    aws.fillRequests().sendAndWait(bucket);

    assertThat(services.requests(PRODUCER))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.body())
                  .isEqualTo("{\"tenantId\":\"%s\",\"action\":\"connect\"}".formatted(tenant));
            });
  }

  @Test
  void an_asynchronous_fill_is_an_event() {
    aws.fillRequests().send(bucket);

    assertThat(services.requests(PRODUCER))
        .singleElement()
        .satisfies(request -> assertThat(request.invocationType()).contains("Event"));
  }

  @Test
  void a_failed_invocation_of_the_producer_is_not_retried() {
    services.on(PRODUCER, request -> Answer.failure(503, "ServiceException"));

    assertThatThrownBy(() -> aws.fillRequests().sendAndWait(bucket))
        .isInstanceOf(Unavailable.class);

    assertThat(services.requests(PRODUCER)).hasSize(1);
  }
}
