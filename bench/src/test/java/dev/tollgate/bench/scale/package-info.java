/** Tests of the simulation of many tenants, and the bars that the product is held to in it. */
package dev.tollgate.bench.scale;
