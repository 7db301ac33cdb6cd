package dev.tollgate.local.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.iam.Grant;
import dev.tollgate.local.iam.Policies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/**
 * Looks back on all end-to-end tests: what the roles of the stack are granted and nothing has
 * needed is granted too much, unless there is a reason. It has something to say only behind the
 * whole suite.
 */
@Order(Integer.MAX_VALUE)
final class GrantsIT {
  /** Why a grant stays that no test here can use. */
  private static final Map<Pattern, String> REASONS =
      Map.of(
          Pattern.compile("\\w+ logs:(CreateLogStream|PutLogEvents) .*"),
          "Lambda writes a function's log with the function's role; here logs go to a file");

  @Test
  void nothing_is_granted_that_is_not_needed() {
    SortedMap<Grant, Long> uses = new TreeMap<>();
    Deployment.policies()
        .forEach(
            policies ->
                policies.uses().forEach((grant, times) -> uses.merge(grant, times, Long::sum)));
    uses.keySet().retainAll(Deployment.shared().cloud().policies().uses().keySet());
    List<Grant> unused =
        uses.entrySet().stream()
            .filter(use -> use.getValue() == 0)
            .map(Map.Entry::getKey)
            .filter(Predicate.not(grant -> reason(grant).isPresent()))
            .toList();
    long allowed = Deployment.policies().stream().mapToLong(Policies::allowed).sum();
    long denied = Deployment.policies().stream().mapToLong(Policies::denied).sum();
    System.out.printf(
        "%,d grants: %,d used, %,d not, with a reason; %,d accesses allowed, %,d refused%n",
        uses.size(),
        uses.values().stream().filter(times -> times > 0).count(),
        uses.keySet().stream().filter(grant -> reason(grant).isPresent()).count(),
        allowed,
        denied);

    assertThat(unused).isEmpty();
    assertThat(
            REASONS.keySet().stream()
                .filter(
                    reason ->
                        uses.entrySet().stream()
                            .noneMatch(
                                use ->
                                    use.getValue() == 0
                                        && reason.matcher(use.getKey().toString()).matches())))
        .as("reasons for what is not granted, or is used")
        .isEmpty();
  }

  private static Optional<String> reason(Grant grant) {
    return REASONS.entrySet().stream()
        .filter(entry -> entry.getKey().matcher(grant.toString()).matches())
        .map(Map.Entry::getValue)
        .findFirst();
  }
}
