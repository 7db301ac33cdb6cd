package dev.tollgate.aws.dynamodb;

import dev.tollgate.aws.SdkCalls;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.PolicyNotFoundException;

/** The resource policy of the Credentials table, read with the function's own role. */
public final class DynamoDbCredentialsPolicy implements CredentialsPolicy {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final Set<String> roles;

  /** The policy of the table with this ARN, whose rows these roles may access. */
  public DynamoDbCredentialsPolicy(DynamoDbClient dynamoDb, String table, Set<String> roles) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.roles = Set.copyOf(roles);
  }

  @Override
  public String table() {
    return table;
  }

  @Override
  public Set<String> roles() {
    return roles;
  }

  @Override
  public Optional<String> document() {
    return SdkCalls.askUnless(
        "DynamoDB GetResourcePolicy",
        PolicyNotFoundException.class,
        () -> {
          try {
            return dynamoDb.getResourcePolicy(r -> r.resourceArn(table)).policy();
          } catch (DynamoDbException denied) {
            if (denied.awsErrorDetails().errorCode().startsWith("AccessDenied")) {
              throw new Unavailable("DynamoDB GetResourcePolicy: permission denied");
            }
            throw denied;
          }
        });
  }
}
