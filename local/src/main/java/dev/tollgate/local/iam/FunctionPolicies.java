package dev.tollgate.local.iam;

import dev.tollgate.local.template.Environment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which services may invoke functions without a role: what {@code AWS::Lambda::Permission} adds to
 * a function's own policy. Where API Gateway may not invoke what stands behind a route, AWS takes
 * the template all the same, and answers each request with 500.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html">Resource-based
 *     policies in Lambda</a>
 */
public final class FunctionPolicies {
  private final Environment environment;
  private final boolean enforced;
  private final Set<Statement> statements = ConcurrentHashMap.newKeySet();

  private record Statement(String function, String service, Glob source) {}

  /**
   * Policies that allow nobody yet.
   *
   * @param enforced whether policies are obeyed; without, everything is allowed
   */
  public FunctionPolicies(Environment environment, boolean enforced) {
    this.environment = environment;
    this.enforced = enforced;
  }

  /**
   * Lets a service invoke a function.
   *
   * @param function its name, or its ARN; with a qualifier, that version or alias alone
   * @param service such as {@code apigateway.amazonaws.com}
   * @param source the ARN of what the service may do so for, perhaps with stars; without it, for
   *     anything
   */
  public void allow(String function, String service, Optional<String> source) {
    String arn =
        function.startsWith("arn:") ? function : environment.arn("lambda", "function:" + function);
    statements.add(new Statement(arn, service, new Glob(source.orElse("*"))));
  }

  /** Whether a service may invoke a function for a source. */
  public boolean allows(String functionArn, String service, String source) {
    return !enforced
        || statements.stream()
            .anyMatch(
                statement ->
                    statement.function().equals(functionArn)
                        && statement.service().equals(service)
                        && statement.source().matchesArn(source, Context.EMPTY));
  }
}
