package dev.tollgate.aws.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.fanout.Chunk;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How a function invokes itself for the rest of its work. */
class LambdaSelfInvocationTest extends ScriptedAdapters {
  private static final String PRODUCER =
      "POST /2015-03-31/functions/arn:aws:lambda:eu-central-1:000000000000:function:f:l/invocations";

  @Test
  void a_chunk_is_an_event_of_the_function_itself() {
    aws.selfInvocation("arn:aws:lambda:eu-central-1:000000000000:function:f:l")
        .send(new Chunk("visits", Optional.of(tenant), Optional.of(new TenantId("z")), 7));

    assertThat(services.requests(PRODUCER))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.invocationType()).contains("Event");
              assertThat(request.body())
                  .isEqualTo(
                      "{\"task\":\"visits\",\"after\":\"%s\",\"upTo\":\"z\",\"chunks\":\"7\"}"
                          .formatted(tenant));
            });
  }
}
