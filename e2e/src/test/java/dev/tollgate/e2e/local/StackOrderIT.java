package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.faults.FaultPlan;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The stack comes up in any order that its dependencies allow. CloudFormation chooses the order, so
 * a missing {@code DependsOn} fails only now and then.
 */
final class StackOrderIT {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void stack_comes_up_in_any_order_of_independent_resources(long seed) {
    FaultPlan order = new FaultPlan(seed, Map.of(), Map.of(), Map.of());
    try (LocalDeployment deployment = LocalDeployment.withFaults(order)) {
      assertThat(deployment.outputs()).isNotEmpty();
    }
  }
}
