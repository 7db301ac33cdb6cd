package dev.tollgate.local.engines;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;

/** Several engines in one process, as in tests that start clouds of their own. */
final class TableEnginesTest {
  private static final int CALLERS = 8;
  private static final int STARTS = 400;

  @Test
  @Tag("nightly")
  void an_engine_answers_while_others_start() throws Exception {
    AccessKeys keys = new AccessKeys();
    AccessKey key = keys.issue(Principal.of("test", "arn:aws:iam::000000000000:role/test"));
    AtomicBoolean started = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
    try (TableEngine engine = new TableEngine(Optional.empty(), "us-east-1");
        Endpoint endpoint =
            new Endpoint(
                keys,
                Authorization.NONE,
                new RecordedRequests(),
                UnaryOperator.identity(),
                InstantSource.system())) {
      endpoint.serve("dynamodb", engine.handler());
      try (DynamoDbClient client = EnginesTest.client(DynamoDbClient.builder(), key, endpoint)) {
        List<Future<Integer>> answered =
            IntStream.range(0, CALLERS)
                .mapToObj(i -> threads.submit(() -> callUntil(started, client)))
                .toList();
        for (int i = 0; i < STARTS; i++) {
          new TableEngine(Optional.empty(), "us-east-1").close();
        }
        started.set(true);
        for (Future<Integer> answers : answered) {
          assertThat(answers.get()).isPositive();
        }
      }
    } finally {
      started.set(true);
      threads.shutdown();
    }
  }

  /** Calls the operation that a starting engine lists last. Returns the number of answers. */
  private static int callUntil(AtomicBoolean end, DynamoDbClient client) {
    BatchStatementRequest statement =
        BatchStatementRequest.builder().statement("SELECT * FROM missing WHERE id='1'").build();
    int answers = 0;
    while (!end.get()) {
      client.batchExecuteStatement(batch -> batch.statements(statement));
      answers++;
    }
    return answers;
  }
}
