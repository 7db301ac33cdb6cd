package dev.tollgate.aws.credentials;

import java.util.Set;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Tells {@link AssumedRoles} of requests that AWS denied. An operator who revokes the active
 * sessions of a role denies all of its credentials that were issued before.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_revoke-sessions.html">Revoke
 *     IAM role temporary security credentials</a>
 */
public final class DeniedSessions implements ExecutionInterceptor {
  /** Without the suffix "Exception", which the services' protocols add or not. */
  private static final Set<String> DENIALS =
      Set.of("AccessDenied", "ExpiredToken", "UnrecognizedClient", "InvalidClientTokenId");

  @Override
  public void onExecutionFailure(Context.FailedExecution failed, ExecutionAttributes attributes) {
    if (failed.exception() instanceof AwsServiceException answer && isDenial(answer)) {
      failed
          .request()
          .overrideConfiguration()
          .filter(AwsRequestOverrideConfiguration.class::isInstance)
          .map(AwsRequestOverrideConfiguration.class::cast)
          .flatMap(AwsRequestOverrideConfiguration::credentialsIdentityProvider)
          .filter(TenantSession.class::isInstance)
          .map(TenantSession.class::cast)
          .ifPresent(TenantSession::deny);
    }
  }

  private static boolean isDenial(AwsServiceException answer) {
    AwsErrorDetails details = answer.awsErrorDetails();
    String code = details == null ? "" : String.valueOf(details.errorCode());
    return DENIALS.contains(code.replaceFirst("Exception$", ""));
  }
}
