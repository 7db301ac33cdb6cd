package dev.tollgate.cli.prove.account;

import java.nio.file.Path;
import java.util.Map;

/** Creates and deletes CloudFormation stacks in an account. */
public interface Stacks extends AutoCloseable {
  /** The account, before and after there are stacks. */
  Account account();

  /**
   * The account with a stack that {@link #deploy} created, in this run or an earlier one. On AWS it
   * is {@link #account()}; each stack of a local cloud has an account of its own.
   */
  Account account(String name);

  /** Whether the account is a local cloud. */
  boolean areLocal();

  /**
   * Creates a stack of this project, or updates it.
   *
   * @param name the stack's name, which follows from the context values
   * @param runId the run, by which its stacks are told from those of others
   * @param context the context values of the CDK app
   * @param outputs the file that the stack's outputs are written to, as {@code cdk deploy
   *     --outputs-file} does
   * @throws dev.tollgate.cli.http.Failure if it fails, or another run or person created the stack
   */
  void deploy(String name, String runId, Map<String, String> context, Path outputs);

  /**
   * Deletes a stack; does nothing if there is none.
   *
   * @param context as it was deployed
   * @throws dev.tollgate.cli.http.Failure if it fails, or another run or person created the stack
   */
  void destroy(String name, String runId, Map<String, String> context);

  @Override
  void close();
}
