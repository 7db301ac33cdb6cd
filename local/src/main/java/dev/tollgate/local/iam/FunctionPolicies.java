package dev.tollgate.local.iam;

import dev.tollgate.local.template.Environment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The resource policies of functions, which {@code AWS::Lambda::Permission} adds to: which services
 * may invoke a function without a role. AWS accepts a template without the permission for API
 * Gateway, and then answers each request with 500.
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
   * Policies without statements.
   *
   * @param enforced whether policies are obeyed; without, everything is allowed
   */
  public FunctionPolicies(Environment environment, boolean enforced) {
    this.environment = environment;
    this.enforced = enforced;
  }

  /**
   * Allows a service to invoke a function.
   *
   * @param function its name, or its ARN; with a qualifier, that version or alias alone
   * @param service such as {@code apigateway.amazonaws.com}
   * @param source the ARN of the source on whose behalf the service may invoke, perhaps with
   *     wildcards; without it, any source
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
