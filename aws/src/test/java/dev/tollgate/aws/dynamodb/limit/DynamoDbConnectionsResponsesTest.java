package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Correction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** How a correction of a count handles a lost response. */
class DynamoDbConnectionsResponsesTest extends ScriptedAdapters {
  private static final Pattern CORRECTION = Pattern.compile("\":name\":\\{\"S\":\"([^\"]+)\"");

  private static Correction correction() {
    return new Correction(-1, Map.of(3, -1L));
  }

  private static Answer overtakenBy(String correction) {
    return new Answer(
        400,
        Optional.of("ConditionalCheckFailedException"),
        """
        {"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
         "message":"The conditional request failed",
         "Item":{"tenantId":{"S":"t"},"key":{"S":"connections"},"correction":{"S":"%s"}}}"""
            .formatted(correction));
  }

  @Test
  void a_correction_with_a_lost_response_is_retried_and_recognized() {
    List<String> corrections = new CopyOnWriteArrayList<>();
    services.on(
        "UpdateItem",
        request -> {
          Matcher name = CORRECTION.matcher(request.body());
          assertThat(name.find()).isTrue();
          corrections.add(name.group(1));
          return corrections.size() == 1
              ? Answer.failure(500, "InternalServerError")
              : overtakenBy(corrections.get(0));
        });

    assertThat(aws.connections().correct(tenant, ConnectionCount.NONE, correction()))
        .isEqualTo(WriteResult.DONE);

    assertThat(services.requests("UpdateItem")).hasSize(2);
  }

  @Test
  void a_correction_after_another_one_is_overtaken() {
    services.on("UpdateItem", request -> overtakenBy("another"));

    assertThat(aws.connections().correct(tenant, ConnectionCount.NONE, correction()))
        .isEqualTo(WriteResult.CONFLICT);
  }
}
