package dev.tollgate.local.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.testing.Law;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;

/** A tenant that is moved between two tiers again and again, at random times and under load. */
final class FlipsIT {
  private static final int FLIPS = 1_000;
  private static final long SEED = 20_260_312L;
  private static final String QUEUE =
      "https://sqs.us-east-1.amazonaws.com/000000000000/connect_flipped_token_bucket";

  private static String tier(String mode, int perMinute) {
    return """
        {"isolation": "POOL", "fillMode": "%s", "buckets": {"connect": {"capacity": %d}},
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 10, "connectionsPerSession": 10,
                    "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 1}}"""
        .formatted(mode, 2 * perMinute, perMinute);
  }

  @Test
  void the_larger_tiers_law_is_kept_through_a_thousand_flips() throws Exception {
    Random random = new Random(SEED);
    try (Deployment deployment = Deployment.of(Path.of("../infra/target/cdk.out"));
        SqsClient sqs = deployment.inspect(SqsClient.builder())) {
      deployment.control("PUT", "/tiers/small", tier("SHARED", 4));
      deployment.control("PUT", "/tiers/large", tier("PRODUCER", 30));
      assertThat(deployment.onboard("flipped", "small", "{}").status()).isEqualTo(201);
      Law law = new Law(30, 60, 30);
      long admitted = 0;
      for (int flip = 0; flip < FLIPS; flip++) {
        deployment.advance(Duration.ofMillis(1 + random.nextInt(12_000)));
        int tokens = claim(sqs);
        admitted += tokens;
        law.admitted(tokens, deployment.clock().instant());
        assertThat(law.isKept()).as("seed %s, flip %s: %s", SEED, flip, law).isTrue();
        String to = flip % 2 == 0 ? "large" : "small";
        assertThat(
                deployment
                    .control("PATCH", "/tenants/flipped", "{\"tier\":\"" + to + "\"}")
                    .status())
            .isEqualTo(200);
      }
      System.out.println(FLIPS + " flips, " + admitted + " admitted; " + law);
      assertThat(admitted).isGreaterThan(FLIPS / 2);
    }
  }

  /** Takes whatever the bucket holds. */
  private static int claim(SqsClient sqs) {
    int taken = 0;
    while (true) {
      List<Message> tokens =
          sqs.receiveMessage(request -> request.queueUrl(QUEUE).maxNumberOfMessages(10)).messages();
      if (tokens.isEmpty()) {
        return taken;
      }
      tokens.forEach(
          token ->
              sqs.deleteMessage(
                  request -> request.queueUrl(QUEUE).receiptHandle(token.receiptHandle())));
      taken += tokens.size();
    }
  }
}
