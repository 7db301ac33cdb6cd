package dev.tollgate.aws;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;

/** Set-up for tests of adapters whose requests {@link ScriptedAws} answers. */
public abstract class ScriptedAdapters {
  protected static final Duration LEASE = Duration.ofSeconds(30);

  protected final ScriptedAws services = new ScriptedAws();
  protected final ManualClock clock = new ManualClock(Samples.NOW);
  protected final AwsEnvironment aws =
      new AwsEnvironment(services.environment(), clock, line -> {});
  protected final BucketId bucket = Samples.bucketId();
  protected final TenantId tenant = bucket.tenant();

  /** Ends the server. */
  @AfterEach
  public final void stop() {
    services.close();
  }

  /** Different tokens of the bucket. */
  protected final List<Token> tokens(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Token("t" + i, bucket, Samples.NOW, Samples.NOW))
        .toList();
  }

  protected static Answer noQueue() {
    return Answer.failure(400, "QueueDoesNotExist");
  }

  protected static Answer anyQueue() {
    return Answer.ok("{\"QueueUrl\":\"any\"}");
  }

  protected static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(text, malformed);
    }
  }
}
