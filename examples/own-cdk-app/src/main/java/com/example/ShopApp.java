package com.example;

import dev.tollgate.infra.FunctionJars;
import dev.tollgate.infra.SessionAccess;
import dev.tollgate.infra.Tollgate;
import dev.tollgate.infra.TollgateProps;
import java.nio.file.Path;
import software.amazon.awscdk.App;
import software.amazon.awscdk.CfnOutput;
import software.amazon.awscdk.Stack;

/** A CDK app whose stack contains a Tollgate. Your own resources stand beside it. */
public final class ShopApp {
  private ShopApp() {}

  public static void main(String[] arguments) {
    App app = new App();
    Stack stack = new Stack(app, "Shop");
    Tollgate tollgate =
        new Tollgate(
            stack,
            "Tollgate",
            TollgateProps.builder()
                .jars(FunctionJars.under(Path.of("../..")))
                // The names of all queues and schedules begin with it, so that the shop shares the
                // account with other deployments.
                .prefix("shop_")
                // Everybody may create sessions. The default accepts signed requests only.
                .sessionAccess(new SessionAccess.Open())
                .build());
    // The command line and `./tollgate up` find the APIs by these outputs.
    output(stack, "SessionURL", tollgate.sessionUrl());
    output(stack, "WebSocketURL", tollgate.webSocketUrl());
    output(stack, "ControlPlaneURL", tollgate.controlPlaneUrl());
    output(stack, "OperatorPage", tollgate.operatorPageUrl());
    app.synth();
  }

  private static void output(Stack stack, String name, String value) {
    CfnOutput.Builder.create(stack, name).value(value).build();
  }
}
