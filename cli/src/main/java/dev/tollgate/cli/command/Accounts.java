package dev.tollgate.cli.command;

import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.local.Cloud;
import dev.tollgate.cli.local.LocalStacks;
import dev.tollgate.cli.prove.AwsAccount;
import dev.tollgate.cli.prove.CdkStacks;
import dev.tollgate.cli.prove.ProveCommand;
import dev.tollgate.cli.prove.Stacks;
import dev.tollgate.cli.terminal.Shell;
import java.nio.file.Path;

/** Opens the account that {@code tollgate prove} tries. */
final class Accounts implements ProveCommand.StacksFactory {
  private final Tollgate tollgate;
  private final Shell shell;
  private final Cloud.Starter starter;

  Accounts(Tollgate tollgate, Shell shell, Cloud.Starter starter) {
    this.tollgate = tollgate;
    this.shell = shell;
    this.starter = starter;
  }

  @Override
  public Stacks rehearsal(Path directory) {
    return new LocalStacks(starter, checkout(), directory);
  }

  @Override
  public Stacks aws(Path directory) {
    String region = RequestSigner.defaultRegion(tollgate.region(), tollgate.profile());
    return new CdkStacks(
        AwsAccount.onAws(region, tollgate.profile()),
        shell,
        checkout(),
        directory,
        tollgate.profile());
  }

  private Path checkout() {
    return shell.home().orElse(shell.directory());
  }
}
