package dev.tollgate.cli.prove;

import dev.tollgate.cli.http.Sender;

/** An AWS account in one Region, as one caller. */
public interface Account {
  /**
   * The API of a service.
   *
   * @param service the service's name in signatures, such as {@code sqs}
   */
  Sender api(String service);

  /** The Region, such as {@code eu-central-1}. */
  String region();

  /**
   * The same account with the credentials of a role, which are requested now.
   *
   * @param role the role's ARN; its trust policy must allow this caller
   * @throws dev.tollgate.cli.http.Failure if the caller may not assume the role
   */
  Account as(String role);
}
