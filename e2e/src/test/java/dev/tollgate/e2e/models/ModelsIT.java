package dev.tollgate.e2e.models;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.summingLong;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every request that the end-to-end tests made of AWS APIs, and every answer of the local cloud, is
 * valid in AWS's own models. This test runs after all other end-to-end tests.
 */
final class ModelsIT {
  /** The reasons for violations that are intended. */
  private static final Map<Pattern, String> REASONS =
      Map.of(
          Pattern.compile("SQS \\w+Batch answer (Failed|Successful) \\(expected: required\\)"),
          "SQS leaves out a list without entries (github.com/softwaremill/elasticmq/pull/953)",
          Pattern.compile(
              "DynamoDB Batch\\w+ answer Unprocessed\\w+ \\(expected: at least 1 entries\\)"),
          "\"If there are no unprocessed keys remaining, the response contains an empty map\" (API"
              + " reference, BatchGetItem)",
          Pattern.compile(
              "DynamoDB \\w+ answer .*NumberOfDecreasesToday \\(expected: at least 1\\)"),
          "it is 0 in the API reference's own example of DescribeTable",
          Pattern.compile("STS AssumeRole request Tags\\[]\\.Value \\(expected: \\[.*"),
          "IsolationIT asks for a star as a tenant's tag, which STS refuses");

  /** The same for violations that need random input, and so do not occur in every build. */
  private static final Map<Pattern, String> REASONS_OF_RANDOM_INPUT =
      Map.of(
          Pattern.compile("SQS SendMessageBatch answer error InvalidMessageContents .*"),
          "the local cloud refuses the batch; the API reference does not say which error SQS has");

  @Test
  void every_request_and_every_answer_is_valid_in_the_model_of_its_service() throws Exception {
    ValidatedTraffic traffic = ValidatedTraffic.ofThisBuild();
    System.out.printf(
        "AWS's models: %,d requests and %,d answers of %,d operations validated, all there were, in %.1f s of"
            + " processor time; %s%n",
        total(traffic.requests()),
        total(traffic.answers()),
        traffic.requests().size(),
        traffic.nanos() / 1e9,
        byService(traffic));

    SortedMap<String, String> unexplained = new TreeMap<>(traffic.violations());
    unexplained
        .keySet()
        .removeIf(
            violation ->
                Stream.concat(REASONS.keySet().stream(), REASONS_OF_RANDOM_INPUT.keySet().stream())
                    .anyMatch(reason -> reason.matcher(violation).matches()));
    assertThat(unexplained).isEmpty();
    assertThat(REASONS.keySet())
        .as("reasons for existing violations")
        .allMatch(
            reason ->
                traffic.violations().keySet().stream()
                    .anyMatch(violation -> reason.matcher(violation).matches()));
  }

  private static long total(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private static String byService(ValidatedTraffic traffic) {
    SortedMap<String, Long> requests = byService(traffic.requests());
    SortedMap<String, Long> answers = byService(traffic.answers());
    return requests.entrySet().stream()
        .map(
            service ->
                "%s: %,d operations, %,d requests, %,d answers"
                    .formatted(
                        service.getKey(),
                        traffic.requests().keySet().stream()
                            .filter(name -> service(name).equals(service.getKey()))
                            .count(),
                        service.getValue(),
                        answers.getOrDefault(service.getKey(), 0L)))
        .collect(joining("; "));
  }

  private static SortedMap<String, Long> byService(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .collect(
            groupingBy(
                entry -> service(entry.getKey()), TreeMap::new, summingLong(Map.Entry::getValue)));
  }

  /** The service of "service operation"; a service's name may have spaces. */
  private static String service(String name) {
    return name.substring(0, name.lastIndexOf(' '));
  }
}
